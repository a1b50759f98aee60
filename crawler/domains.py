"""The registered domain of a host: the shortest part of its name that someone can register.

Sub-domains cost their owner nothing, so a farm can have any number of them. A registered domain is
paid for. By the private part of the public suffix list, blogs of one platform (`*.blogspot.com`,
`*.github.io`) are registered domains too.
"""

from functools import cache, lru_cache
from typing import Any, Final

_CACHED_HOSTS: Final = 16_384
_ANY: Final = "*"
_EXCEPT: Final = "!"
_END: Final = ""

_Node = dict[str, Any]
"""The rules of the public suffix list by their labels, from the last label to the first.

`_END` is a key where a rule ends, `_ANY` where any label may come first. A label with the prefix
`_EXCEPT` is an exception to that.
"""


@lru_cache(_CACHED_HOSTS)
def domain_of(host: str) -> str:
    """Return the registered domain of a host (`crawler.url.host_of`).

    `a.b.example.co.uk` is in `example.co.uk`; `me.github.io` is its own. An address and a public
    suffix are their own too.

    A new host takes a fraction of the time that tldextract takes, because that reads any spelling
    of a URL.
    """
    rules = _rules()
    rest, _, last = host.rpartition(".")
    below = rules.get(last)
    if below is None and (":" in host or last.isdigit()):
        return host
    second = rest.rpartition(".")[2]
    # The suffix of most names is their last label.
    if below is None or (second not in below and _ANY not in below):
        return f"{second}.{last}" if second else host
    labels = host.split(".")
    return ".".join(labels[-1 - _suffix_labels(labels) :])


def _suffix_labels(labels: list[str]) -> int:
    """Return the number of labels of the public suffix of a name; a new top-level domain has 1."""
    number, node = 1, _rules()
    for depth, label in enumerate(reversed(labels), 1):
        if _ANY in node:
            if _EXCEPT + label in node:
                return depth - 1
            number = depth
        node = node.get(label, {})
        if _END in node:
            number = depth
        elif not node:
            break
    return number


@cache
def _rules() -> _Node:
    """Return the rules of the list that ships with tldextract; nothing is fetched or written."""
    from tldextract import TLDExtract

    extract = TLDExtract(suffix_list_urls=(), include_psl_private_domains=True, cache_dir=None)
    root: _Node = {}
    for rule in extract.tlds:
        node = root
        for label in reversed(rule.encode("idna").decode().split(".")):
            node = node.setdefault(label, {})
        node[_END] = {}
    return root
