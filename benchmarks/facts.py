"""Makes the tables of facts anew from the installed packages, and shows what changes.

    python -m benchmarks.facts [--write]

The exit code is 1 if a table differs. Answers, pages and test results depend on the tables, never
on these packages: Babel (CLDR), tldextract (the public suffix list) and Python (Unicode).
"""

import argparse
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Final

from langfocus.classifiers import languages
from langfocus.classifiers.errors import optional
from langfocus.classifiers.tables import shipped_folder
from langfocus.classifiers.tables.letters import LAST

FOLDER: Final = shipped_folder("classifiers") / "tables"
_RULE: Final = re.compile(r"(?=[\w.*!])\S+")
_PRIVATE: Final = "// ===BEGIN PRIVATE DOMAINS==="
"""The line that tldextract looks for."""
_PER_LINE: Final = 12


def made() -> dict[str, str]:
    """Return the text of each table that is generated from installed packages."""
    return {
        **_of_cldr(),
        "public-suffixes.dat": _suffixes(),
        "letters.txt": _letters(),
    }


def differences(texts: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Yield the lines of a diff between the files of a folder and new texts."""
    for name, text in texts.items():
        path = folder / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        yield from unified_diff(
            old.splitlines(), text.splitlines(), name, f"{name}, new", lineterm="", n=0
        )


def _of_cldr() -> dict[str, str]:
    core = optional("babel.core")
    release = f"Unicode CLDR {core.get_cldr_version()}, as in Babel {version('babel')}"
    source = f"{release}; Unicode License v3"
    load = optional("babel.localedata").load
    english = load("en")
    spoken = core.get_global("territory_languages")
    texts = {
        "cldr-languages": ("English names of languages", english["languages"]),
        "cldr-territories": ("English names of territories", english["territories"]),
        "cldr-aliases": ("Codes that have another one", core.get_global("language_aliases")),
        "cldr-speakers": (
            "Languages of territories: percent of speakers, status",
            {territory: _speakers(of_tag) for territory, of_tag in spoken.items() if of_tag},
        ),
        "cldr-scripts": ("Languages of scripts", _scripts(spoken)),
        "names": ("Names of languages, in English and their own", _names()),
    }
    return {
        f"{name}.txt": _table(f"{title}: {source}", rows) for name, (title, rows) in texts.items()
    }


def _table(source: str, rows: Mapping[str, str]) -> str:
    lines = [f"# {source}", *(f"{key}: {rows[key]}" for key in sorted(rows))]
    return "\n".join([*lines, ""])


def _speakers(of_tag: Mapping[str, Mapping[str, float | str | None]]) -> str:
    ranked = sorted(((facts["population_percent"], tag) for tag, facts in of_tag.items()))[::-1]
    return ", ".join(
        f"{tag} {percent:.15g} {of_tag[tag]['official_status'] or ''}".rstrip()
        for percent, tag in ranked
    )


def _scripts(spoken: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Each script with its languages: likely, used in a territory, or localised."""
    likely = optional("babel.core").get_global("likely_subtags")
    tags = [tag for lang, tag in likely.items() if "_" not in lang]
    tags += [tag for of_tag in spoken.values() for tag in of_tag]
    tags += optional("babel.localedata").locale_identifiers()
    found: defaultdict[str, set[str]] = defaultdict(set)
    for code, script, *_ in (tag.split("_") for tag in tags if "_" in tag):
        if len(script) == 4:
            found[script].add(code)
    return {script: " ".join(sorted(codes)) for script, codes in found.items()}


def _names() -> dict[str, str]:
    """Each code with its names, in lower case; the first language of a name has it."""
    aliases = optional("babel.core").get_global("language_aliases")
    code_of: dict[str, str] = {}
    for tag, text in [*_english_names(), *_own_names()]:
        if code := languages.of_subtag(tag, aliases):
            code_of.setdefault(languages.spelled(text), code)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for text, code in code_of.items():
        found[code].append(text)
    return {code: " | ".join(texts) for code, texts in found.items()}


def _english_names() -> Iterator[tuple[str, str]]:
    names = optional("babel.localedata").load("en")["languages"]
    return ((tag.partition("_")[0], text) for tag, text in names.items())


def _own_names() -> Iterator[tuple[str, str]]:
    data = optional("babel.localedata")
    for tag in sorted(tag for tag in data.locale_identifiers() if "_" not in tag):
        # A locale's own file is enough; inherited names are those of other languages.
        if text := data.load(tag, merge_inherited=False)["languages"].get(tag):
            yield tag, text


def _suffixes() -> str:
    """Return the public suffix list without its remarks, in its order."""
    text = (files("tldextract") / ".tld_set_snapshot").read_text(encoding="utf-8")
    release = re.search(r"^// VERSION: (\S+)", text, re.MULTILINE)
    lines = [line.strip() for line in text.splitlines()]
    rules = [line for line in lines if _RULE.match(line) or line == _PRIVATE]
    head = (
        f"// Public Suffix List of {release[1] if release else 'an unknown day'},"
        f" as in tldextract {version('tldextract')}, without its comments;"
        " Mozilla Public License 2.0, https://mozilla.org/MPL/2.0/"
    )
    return "\n".join([head, *rules, ""])


def _letters() -> str:
    """Return the runs of letters and marks below `LAST`, some a line."""
    points = (at for at in range(LAST + 1) if unicodedata.category(chr(at))[0] in "LM")
    runs = []
    for _, run in groupby(enumerate(points), lambda pair: pair[1] - pair[0]):
        inside = [point for _, point in run]
        runs.append(f"{inside[0]:X}-{inside[-1]:X}" if len(inside) > 1 else f"{inside[0]:X}")
    source = f"Unicode {unicodedata.unidata_version}, as in Python; Unicode License v3"
    lines = [f"# Letters and marks (general categories L and M): {source}"]
    lines += [" ".join(runs[at : at + _PER_LINE]) for at in range(0, len(runs), _PER_LINE)]
    return "\n".join([*lines, ""])


def main() -> int:
    """Show the differences, and write the new tables if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the new tables")
    opts = parser.parse_args()
    texts = made()
    lines = list(differences(texts, FOLDER))
    print(*lines, sep="\n", end="\n" if lines else "")
    if opts.write:
        for name, text in texts.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    return 1 if lines and not opts.write else 0


if __name__ == "__main__":
    sys.exit(main())
