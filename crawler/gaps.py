"""The parts of langfocus that do not know the language of a crawl, so that nobody is surprised."""

from classifiers import languages
from classifiers.pages.method import Adding, PageMethod
from classifiers.pages.methods import DEFAULT_METHOD
from classifiers.pages.text.fasttextengine import VARIABLE
from crawler.config import SEED_FOLDER, Config
from crawler.errors import SettingError
from crawler.strategies.focus.ordering import Focus
from crawler.strategies.orderings import Ordering


def gaps(config: Config, ordering: Ordering, method: PageMethod) -> tuple[str, ...]:
    """Return a sentence for each part that does not know the language of a crawl.

    `ordering` is the ordering of the crawl. `method` identifies the pages. A census has no
    language: the lines of its list that name no host are told.
    """
    if not config.lang:
        return _notes(config)
    name = languages.name(config.lang)
    found = [_of_urls(config, ordering, name), _of_pages(config.lang, method, name)]
    if isinstance(method, Adding) and method.note:
        found.append(method.note)
    if config.web == "live" and not (SEED_FOLDER / f"{config.lang}.txt").exists():
        found.append(f"no seeds ship for {name}: the crawl starts from those of -a seeds")
    return tuple(filter(None, found))


def _notes(config: Config) -> tuple[str, ...]:
    hosts = config.hosts
    if hosts is None or not hosts.skipped:
        return ()
    lines = f"{hosts.skipped:,} lines name no host and are skipped"
    return (f"{hosts.path}: {lines}, the first: {hosts.first_skipped}",)


def check_language(lang: str, method: PageMethod) -> None:
    """Raise `SettingError` for a language beyond the project's codes that no model of pages knows.

    No page would count as relevant: there is no text of it, and its declarations are not read.
    """
    if not lang or lang in languages.known():
        return
    if lang not in (method.added if isinstance(method, Adding) else method.languages):
        name = languages.name(lang)
        raise SettingError(
            f"-a lang={lang}: no model here reads {name}; {VARIABLE}=FILE names a model of "
            "fastText that does"
        )


def _of_urls(config: Config, ordering: Ordering, name: str) -> str:
    if not isinstance(ordering, Focus) or ordering.knows_urls:
        return ""
    domain = (
        "top-level domain, "
        if config.lang in languages.known() and languages.tlds_of(config.lang)
        else ""
    )
    return (
        f"the URL model does not know {name}: the frontier is ordered by {domain}codes in URLs, "
        "links and what the crawl learns of servers"
    )


def _of_pages(lang: str, method: PageMethod, name: str) -> str:
    added = method.added if isinstance(method, Adding) else frozenset()
    if lang in added:
        return f"the text model does not know {name}: a model of fastText identifies its pages"
    if method.name == DEFAULT_METHOD or added:
        from classifiers.pages.text.known import known_languages

        if lang in known_languages():
            return ""
        return (
            f"the text model does not know {name}: pages that declare it count if their text is in "
            "no language that it knows"
        )
    if not method.languages or lang in method.languages:
        return ""
    return f"the method {method.name} does not know {name}: no page will count as relevant"
