"""Writes docs/languages.md, the table of the languages that a part of langfocus knows.

python -m benchmarks.languages_page
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, Final

from langfocus.classifiers.papers.evaluation import Measures
from langfocus.crawler.commands.identify import language_records
from langfocus.crawler.report.provenance import ROOT
from langfocus.crawler.run.whole_file import write_whole

Record = dict[str, Any]

PAGE: Final = ROOT / "docs" / "languages.md"

_PREFACE = """\
# Languages

The languages that a part of langfocus knows. `python -m benchmarks.languages_page`
writes this page, and `langfocus identify languages` the same facts as JSON.

- **scripts**: in brackets scripts that the text model has not learned for a language in the model:
  their pages get no language, another language in these letters, or the declared one. How many
  are right was not measured.
- **texts**: training texts of the text model; *script* if the letters alone identify the language.
  Without either, a page that declares the language counts if its text is in no known language.
- **sentence**, **page**: right answers of the text model in percent, on single held-out sentences
  and on pages of 20 held-out sentences; for each script if there are several.
  Azerbaijani, Crimean Tatar and Uzbek in Cyrillic letters, Kazakh in Latin and Arabic, Kyrgyz and
  Punjabi in Arabic and Serbian in Latin letters were learned from transliterated texts, and these
  figures are of such texts.
- **URLs**: training URLs of the URL model; without a classifier, the top-level domains as
  evidence, or *codes* if only language codes and letters in the URL count.
- **tested**, **F1**: URLs of the language on held-out domains, and the URL model's F1 on them in
  percent ([url-model.md](url-model.md)). In brackets a 95 % interval: F1 at the ends of Wilson's
  interval of the recall. URLs of a domain are alike, so it is rather too narrow. F1 of a few URLs
  says next to nothing.
- **seeds**: seed URLs that ship. A crawl for another language needs `-a seeds=`.

A hyphen means none, or not measured.
"""
_HEAD = "code language scripts texts sentence page URLs tested F1 seeds".split()
_NONE = "-"
_Z = 1.96


def language_table(records: Iterable[Record]) -> str:
    """Return records as a page of Markdown, which ends with a table."""
    marks = "--- --- --- ---: ---: ---: --- ---: ---: ---:".split()
    rows = [_HEAD, marks, *map(_row, records)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([_PREFACE, *lines, ""])


def _row(record: Record) -> Sequence[str]:
    text, accuracy = record["text"], record["accuracy"]
    of_text, of_url = accuracy["text"] or {}, accuracy["url"] or {}
    return (
        record["language"],
        record["name"],
        " ".join(_scripts(record)),
        _NONE if text is None else _number(text["sentences"], "script"),
        _by_script(of_text, "sentence"),
        _by_script(of_text, "page"),
        _by(record["url"]),
        _number(of_url.get("urls") or None),
        _f1(of_url),
        _number(record["seeds"] or None),
    )


def _scripts(record: Record) -> list[str]:
    """Return the scripts of a language, in brackets those that the text model has not learned."""
    known = record["scripts"] if record["text"] is None else record["text"]["scripts"]
    return [each if each in known else f"({each})" for each in record["scripts"]]


def _by(url: Record | None) -> str:
    if url is None:
        return _NONE
    if url["by"] == "model":
        return _number(url["urls"])
    domains = [f"`.{domain.encode().decode('idna')}`" for domain in url["domains"]]
    return " ".join(domains) or "codes"


def _number(value: int | None, otherwise: str = _NONE) -> str:
    return otherwise if value is None else f"{value:,}"


def _by_script(of_text: Record, name: str) -> str:
    """Return the percentage for each script, or one percentage for a language with one script."""
    scripts = (of_text.get("by_script") or {}).get(name)
    if not scripts:
        return _percent(of_text.get(name))
    return ", ".join(f"{script} {_percent(value)}" for script, value in sorted(scripts.items()))


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1f}"


def _f1(measured: Mapping[str, float]) -> str:
    """F1, with F1 at both ends of Wilson's interval of the recall."""
    if measured.get("F1") is None:
        return _NONE
    n, recall = measured["urls"], measured["R"] / 100
    middle = recall + _Z**2 / (2 * n)
    half = _Z * sqrt(recall * (1 - recall) / n + (_Z / (2 * n)) ** 2)
    ends = ((middle + sign * half) / (1 + _Z**2 / n) for sign in (-1, 1))
    least, most = (100 * Measures(end, measured["p(-|-)"] / 100).f1 for end in ends)
    return f"{measured['F1']:.1f} ({least:.0f}-{most:.0f})"


if __name__ == "__main__":
    write_whole(PAGE, language_table(language_records()))
