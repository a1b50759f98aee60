"""Labelled URLs for first steps, made from the sample web; `data/sample-urls.tsv` contains them.

    python -m tests.support.sampleurls > langfocus/data/sample-urls.tsv

They show what `langfocus train` and `langfocus evaluate` read and write. A model trained on them is
of no use for crawls.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import urlsplit

from crawler.sources.sample import SampleWeb

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "pt", "ru", "zh")
URLS_PER_LANGUAGE = 60
URLS_PER_HOST = 2
_SEED, _HOSTS = 7, 1500


def sample_urls() -> Iterator[tuple[str, str]]:
    """Yield pairs of URL and language, the same each time, language by language."""
    chosen: dict[str, list[str]] = {language: [] for language in LANGUAGES}
    of_host: defaultdict[tuple[str, str | None], int] = defaultdict(int)
    for url, language in SampleWeb(seed=_SEED, hosts=_HOSTS).truth():
        key = language, urlsplit(url).hostname
        urls = chosen.get(language)
        if urls is None or len(urls) == URLS_PER_LANGUAGE or of_host[key] == URLS_PER_HOST:
            continue
        of_host[key] += 1
        urls.append(url)
    for language, urls in chosen.items():
        yield from ((url, language) for url in urls)


def table() -> str:
    """Return the URLs as a table that `langfocus train` reads."""
    lines = ["url\tlang\tlabel_kind\tsource"]
    lines += [f"{url}\t{language}\tdocument\tsample-web" for url, language in sample_urls()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
