"""Pages whose text only a browser shows: a few elements for the scripts that write the rest.

Some of them have their text in `noscript`, for browsers without scripts.
"""

import re
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_TEXT: Final = 200
"""Visible characters from which a page has text of its own."""

_MOST_ASKING: Final = 100
"""The same for a page that only its `noscript` marks: widgets on short pages have one too."""
_MOST_WAITING: Final = 50
"""Most characters of an element that waits for its scripts, such as `Loading, please wait`."""

_BUNDLES: Final = "script[src],script[type=module],link[rel=modulepreload]"
_OWN_BUNDLES: Final = (
    "script[src]:not([src*='//']),script[type=module],link[rel=modulepreload]:not([href*='//'])"
)
_ROOTS: Final = (
    "body [id=app i],body [id=root i],body [id=application i],#svelte,#__next,#__nuxt,#___gatsby"
    ",[ng-app],[data-ng-app],[ng-version],[data-v-app],[data-reactroot],app"
    ",ui-view,[ui-view],[data-ui-view],ng-view,[ng-view],[data-ng-view]"
)
"""Elements in which the usual frameworks write a page."""
_OTHER_ROOTS: Final = "[id^=__],[id$=-app i],[id$=-root i]:not(#fb-root)"
"""The same where the page has nothing else."""
_LEFT_OUT: Final = "template[data-dgst]"
"""Where React leaves a part to the browser."""
_OTHER_CONTENT: Final = "frame,iframe[src],object,embed,video,audio,meta[http-equiv=refresh i]"
_CONTENT: Final = "a[href],area[href],input:not([type=hidden]),textarea,table"
_SILENT: Final = "script,style,noscript,template,svg,title"
_ASKS: Final = re.compile("java[ -]?script|джава-?скрипт|جافا ?سكر", re.IGNORECASE)
_PER_MENTION: Final = 300
"""Fewest characters of a text for each mention of JavaScript; a notice has fewer."""
_NOSCRIPT: Final = re.compile(rb"</?noscript\b[^<>]{0,200}>", re.IGNORECASE)
_MOST_NODES: Final = 20


def without_scripting(html: bytes) -> bytes | None:
    """Return a page with the content of its `noscript` in place; None if it has no `noscript`."""
    plain, number = _NOSCRIPT.subn(b" ", html)
    return plain if number else None


def is_page_text(text: str) -> bool:
    """Return True if the text of a page without scripting is no mere request for JavaScript."""
    return len(text) >= max(MOST_TEXT, _PER_MENTION * len(_ASKS.findall(text)))


def is_shell(html: bytes, text: str) -> bool:
    """Return True for a page with little visible `text` whose scripts would write more.

    False for frames, media and pages that lead on. Parses the page again, so call it for pages with
    fewer than `MOST_TEXT` characters.
    """
    tree = LexborHTMLParser(html, scripting=True)
    body = tree.body
    if body is None or tree.css_first(_BUNDLES) is None or tree.css_first(_OTHER_CONTENT):
        return False
    asking = " ".join(node.text() for node in tree.css("noscript")[:_MOST_NODES])
    is_asking = len(text) < _MOST_ASKING and _ASKS.search(asking) is not None
    is_blank = not text and tree.css_first(_OWN_BUNDLES) is not None
    if tree.css_first(_LEFT_OUT):
        return True
    for node in tree.css(_SILENT):
        node.decompose()
    roots = tree.css(_ROOTS)[:_MOST_NODES]
    parts = [node for node in islice(body.iter(), _MOST_NODES) if "-" in str(node.tag).lstrip("-")]
    if body.css_first(_CONTENT) is None:
        if is_asking or (is_blank and body.css_first("img") is None):
            return True
        roots += [*body.css(_OTHER_ROOTS)[:_MOST_NODES], *parts]
    roots += [node for node in parts if str(node.tag).endswith(("-app", "-root"))]
    return any(map(_waits, roots))


def _waits(node: LexborNode) -> bool:
    is_short = len(" ".join(node.text().split())) < _MOST_WAITING
    return is_short and node.css_first(_CONTENT) is None
