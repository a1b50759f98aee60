"""The parts of which the HTML files are made: one file each, with nothing fetched and no script.

Everything that takes text escapes it; everything named `html` is markup already. URLs come from the
Web, so they are shown as text and never as links.
"""

from collections.abc import Iterable, Sequence
from html import escape

from crawler.report.formatting import printable

_STYLE = """
:root { color-scheme: light dark; --ground: #fdfdfc; --ink: #1d2329; --faint: #66707a;
  --rule: #dfe2e5; --card: #f3f4f3; --series-1: #1668b8; --series-2: #d1580f; --series-3: #2a8440;
  --series-4: #8b46b0; --series-5: #b3243f; --series-6: #6d6a1f; }
@media (prefers-color-scheme: dark) { :root { --ground: #15191d; --ink: #e4e7ea; --faint: #98a2ac;
  --rule: #343b42; --card: #1e242a; --series-1: #68aef0; --series-2: #f39a5c; --series-3: #6fc585;
  --series-4: #c992ea; --series-5: #ef7f93; --series-6: #c9c45e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p.lead, p.note, figcaption { color: var(--faint); margin: .3rem 0 1rem; }
p.note, figcaption { font-size: .88rem; }
dl.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr));
  gap: .75rem; margin: 1.5rem 0 0; }
dl.figures div { background: var(--card); border-radius: .5rem; padding: .7rem .9rem; display: flex;
  flex-direction: column-reverse; }
dl.figures dt { color: var(--faint); font-size: .85rem; }
dl.figures dd { margin: 0; font-size: 1.35rem; font-weight: 600; }
figure { margin: 0 0 .5rem; }
svg { width: 100%; height: auto; display: block; }
svg text { font-family: inherit !important; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr));
  gap: 1.2rem 2rem; align-items: start; }
.flow { columns: 2 19rem; column-gap: 2rem; }
.flow > div { break-inside: avoid; padding-bottom: 1.2rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { text-align: right; padding: .28rem .6rem; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
th { font-weight: 500; color: var(--faint); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
table.text td { text-align: left; overflow-wrap: anywhere; }
tr.faint td { color: var(--faint); font-style: italic; }
details { margin: .3rem 0 1rem; }
summary { cursor: pointer; color: var(--faint); font-size: .88rem; }
ul.urls { padding-left: 1.2rem; overflow-wrap: anywhere; font-size: .92rem; }
footer { margin-top: 3rem; color: var(--faint); font-size: .85rem; }
"""

Rows = Iterable[Sequence[str]]


def page(title: str, body_html: str) -> str:
    """A whole HTML document; it forbids itself to fetch or run anything."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy"'
        " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body_html}\n</body>\n</html>\n"
    )


def text(value: str) -> str:
    """Any text as it may stand in an element or an attribute."""
    return escape(printable(value))


def heading(title: str, lead: str) -> str:
    """The title of the page and one sentence below it."""
    return f'<h1>{text(title)}</h1>\n<p class="lead">{text(lead)}</p>'


def section(title: str, *parts_html: str) -> str:
    """A section with a heading; nothing if it would be empty."""
    inner = "\n".join(part for part in parts_html if part)
    return f"<section>\n<h2>{text(title)}</h2>\n{inner}\n</section>" if inner else ""


def columns(*parts_html: str) -> str:
    """Parts beside each other where the page is wide enough."""
    inner = "\n".join(f"<div>{part}</div>" for part in parts_html if part)
    return f'<div class="columns">\n{inner}\n</div>' if inner else ""


def flow(*parts_html: str) -> str:
    """Parts of unlike height, packed into two columns where the page is wide enough."""
    inner = "\n".join(f"<div>{part}</div>" for part in parts_html if part)
    return f'<div class="flow">\n{inner}\n</div>' if inner else ""


def note(sentence: str) -> str:
    """A remark in small letters."""
    return f'<p class="note">{text(sentence)}</p>'


def figures(pairs: Iterable[tuple[str, str]]) -> str:
    """Figures to be seen first, as (name, figure)."""
    cards = (f"<div><dt>{text(name)}</dt><dd>{text(figure)}</dd></div>" for name, figure in pairs)
    return '<dl class="figures">\n' + "\n".join(cards) + "\n</dl>"


def table(
    caption: str,
    head: Sequence[str],
    rows: Rows,
    *,
    faint: Rows = (),
    is_text: bool = False,
) -> str:
    """A table, or nothing without rows; `faint` rows stand back behind the others.

    The first column is text; the others are figures, or text too if `is_text`.
    """
    lines = [_row(row) for row in rows] + [_row(row, ' class="faint"') for row in faint]
    if not lines:
        return ""
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in head)
    return (
        f'<div class="table"><table{" class=text" if is_text else ""}>'
        f"<caption>{text(caption)}</caption>\n"
        + (f"<thead><tr>{top}</tr></thead>\n" if any(head) else "")
        + "<tbody>\n"
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def figure(svg_html: str, caption: str, table_html: str = "") -> str:
    """A plot with its caption and, folded up, the same figures as a table."""
    numbers = f"<details><summary>as a table</summary>{table_html}</details>" if table_html else ""
    return (
        f"<figure>{svg_html}<figcaption>{text(caption)}</figcaption></figure>\n{numbers}".rstrip()
    )


def urls(addresses: Sequence[str], at_most: int = 100) -> str:
    """Addresses as a list of texts, with how many are left out."""
    items = [f"<li>{text(address)}</li>" for address in addresses[:at_most]]
    if len(addresses) > at_most:
        items.append(f"<li>and {len(addresses) - at_most:,} more</li>")
    return '<ul class="urls">\n' + "\n".join(items) + "\n</ul>" if items else ""


def _row(cells: Sequence[str], attributes: str = "") -> str:
    return f"<tr{attributes}>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>"
