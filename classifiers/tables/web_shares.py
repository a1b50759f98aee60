"""How many of a million pages of the Web are in each language.

From the statistics of Common Crawl, CC-MAIN-2024-42, table "languages" (detected by CLD2), in pages
a million. A language that CLD2 does not know is not listed. Latin is left out: most of those pages
are placeholder text.
"""

from __future__ import annotations

from typing import Final

from classifiers.tables import rows

WEB_SHARES: Final = {code: int(pages) for code, pages in rows("web-shares.txt").items()}
"""Code -> pages of a million."""
UNLISTED: Final = 0.5
"""Pages of a million of a language that is not listed."""
