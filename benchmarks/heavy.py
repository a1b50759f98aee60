"""Pages with the weight of real ones, for `benchmarks.proxyweb`.

A page gets styles, scripts, data and menus. Ten weights are equally frequent; their mean is 240 KB,
their median 116 KB. A menu repeats the links of the page and leads to the other pages of its host.
Servers compress such pages once, so their common parts are compressed beforehand.
"""

import csv
import re
import zlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, Self

KB: Final = (20, 40, 60, 80, 105, 127, 170, 250, 400, 1148)

_LINKS: Final = 120
"""Links in the menus of a page."""

_OWN_BYTES: Final = 20_000
"""About the bytes of the text and the menus."""

_WORDS: Final = (
    "active after article banner before block body button card cell close col container"
    " content data date dialog drawer event field figure flex footer form grid group header"
    " hover icon image index inner item label layout left line link list loader main media"
    " menu meta modal module name nav node open outer page panel photo price promo query right"
    " row scroll search section share slide social state sticky style tab table tag target"
    " teaser text title toggle track value view wrap"
).split()


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a page, and a piece of a DEFLATE stream that stands for them."""

    plain: bytes
    deflated: bytes

    @classmethod
    def of(cls, plain: bytes) -> Self:
        """Compress some bytes apart from all others."""
        packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        return cls(plain, packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH))


class Heavy:
    """Adds weight to the pages of a web."""

    def __init__(self, truth: Path) -> None:
        """Read the paths of each host from the file of all pages."""
        self._paths = defaultdict[str, list[str]](list)
        with truth.open(encoding="utf-8") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                host, slash, path = row["url"].removeprefix("http://").partition("/")
                self._paths[host].append(slash + path)

    def page(self, host: str, path: str, body: bytes) -> list[Part]:
        """Return the parts of a page with its weight; the same for each crawl."""
        chance = Random(host + path)
        head, foot = _frame(chance.choice(KB), chance.randrange(4))
        begin, _, rest = body.partition(b"</head>")
        own, _, end = rest.rpartition(b"</body>")
        menus = "".join(_menu(href) for href in self._paths[host]).encode()
        links = re.findall(rb"<li>(<a href=.*?</a>)</li>", own)
        for at in range(_LINKS - len(self._paths[host]) if links else 0):
            menus += _menu_item(at % 9) + links[at % len(links)] + b"</li>"
        own_part = b"</head>" + own + b"<nav><ul>" + menus + b"</ul></nav>"
        return [Part.of(begin), head, Part.of(own_part), foot, Part.of(b"</body>" + end)]


def gzipped(parts: list[Part]) -> bytes:
    """Return the parts as one gzip file."""
    plain = b"".join(part.plain for part in parts)
    body = b"".join(part.deflated for part in parts) + zlib.compressobj(wbits=-15).flush()
    sizes = zlib.crc32(plain).to_bytes(4, "little") + len(plain).to_bytes(4, "little")
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + body + sizes


def _menu(href: str) -> str:
    return f'<li class="menu__item"><a class="menu__link" href="{href.replace("&", "&amp;")}"></a>'


def _menu_item(kind: int) -> bytes:
    return b'<li class="menu__item menu__item--%d has-icon" data-track="menu:%d">' % (kind, kind)


@cache
def _frame(kb: int, kind: int) -> tuple[Part, Part]:
    """Return what stands at the end of the head and of the body of a page."""
    chance = Random(kb * 10 + kind)
    size = max(0, kb * 1000 - _OWN_BYTES)
    head = f"<style>{_many(size * 0.4, _rule, chance)}</style>"
    head += f"<script>{_many(size * 0.3, _statement, chance)}</script>"
    foot = _many(size * 0.2, _card, chance)
    foot += f"<script type='application/json'>[{_many(size * 0.1, _datum, chance)}0]</script>"
    return Part.of(head.encode()), Part.of(foot.encode())


def _many(size: float, kind: Callable[[Random], str], chance: Random) -> str:
    made = ""
    while len(made) < size:
        made += kind(chance)
    return made


def _name(chance: Random) -> str:
    return "-".join(chance.choices(_WORDS, k=2))


def _rule(chance: Random) -> str:
    colour, size = chance.randrange(1 << 24), chance.randrange(1, 64)
    return (
        f".{_name(chance)} .{_name(chance)}:hover{{color:#{colour:06x};margin:{size}px auto 0;"
        f"padding:0 {size // 2}px;flex:1 1 {size}%}}\n"
    )


def _statement(chance: Random) -> str:
    one, other, number = _name(chance), _name(chance), chance.randrange(10**6)
    return (
        f"function {one.replace('-', '_')}(e,t){{var n=e.querySelector('.{other}');return n&&t<"
        f"{number}?(n.dataset.id='{number:x}',n.classList.add('{one}'),!0):!1}}\n"
    )


def _card(chance: Random) -> str:
    curve = " ".join(f"{chance.uniform(0, 48):.2f}" for _ in range(12))
    return (
        f'<div class="{_name(chance)} {_name(chance)}" data-id="{chance.randrange(10**9)}">'
        f'<figure class="{_name(chance)}"><svg viewBox="0 0 48 48"><path d="M{curve}z"/></svg>'
        f"</figure><span></span></div>"
    )


def _datum(chance: Random) -> str:
    return f'{{"{_name(chance)}":"{chance.getrandbits(96):x}","n":{chance.randrange(9999)}}},'
