"""How the links of a settled page are kept in its run: their URLs, one a line, compressed.

Normalised URLs have no line breaks. A page of a manual with 23 links takes 320 bytes.
"""

import zlib
from collections.abc import Sequence

# The sixth level saves a twelfth of the bytes and takes half as long again.
_LEVEL = 1


def written(urls: Sequence[str]) -> bytes:
    """Return the bytes for the links of a page, none for no links."""
    text = "\n".join(urls).encode("utf-8", "surrogatepass")
    return zlib.compress(text, _LEVEL) if text else b""


def read(data: bytes) -> list[str]:
    """Return the links, in their order; raises ValueError for what `written` did not write."""
    if not data:
        return []
    try:
        return zlib.decompress(data).decode("utf-8", "surrogatepass").split("\n")
    except zlib.error as error:
        raise ValueError(str(error)) from error
