"""The report of a crawl: files, closing tables, and explanations of fetches."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from langfocus.classifiers.languages import codes_of
from langfocus.classifiers.plugins import Plugin
from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.options.config import GOALS
from langfocus.crawler.report.details import (
    breakdown_tables,
    drops,
    examples,
    meaning,
    seed_table,
    sites,
)
from langfocus.crawler.report.formatting import (
    Cell,
    duration,
    language_name,
    number,
    percent,
    share_of,
    size,
)
from langfocus.crawler.report.harvest import (
    Portion,
    Summary,
    curve,
    merged,
    summarise,
    write_summary,
)
from langfocus.crawler.report.labels import label_table
from langfocus.crawler.report.page import WORDS, Chart, Command, Report
from langfocus.crawler.report.run_report import Written
from langfocus.crawler.report.table import WIDE, Printer, Table, counts_table
from langfocus.crawler.run.embeds import FETCHED, FRAME
from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.whole_file import write_whole
from langfocus.crawler.strategies.focus.evidence import FEATURES, probability_of
from langfocus.crawler.url import fingerprint, normalise

_MOST_PORTIONS = 50
"""A longer run is shown in portions of 400, 600, ... pages."""

_MOST_POINTS = 20
"""Rows in the table of queued URLs."""

_MOST_PRINTED = 10
_MOST_ROWS = 15
_FEWEST_IDLE = 20

_PAGE: Final = """\
SELECT url, depth, parent, score, reasons, outcome, language, confidence, is_copy, in_scope, queued,
       (SELECT count(*) FROM pages AS p WHERE p.id <= pages.id) AS place,
       (SELECT count(*) FROM pages) AS settled
FROM pages WHERE fingerprint = ?"""

_STOPPED: Final = ("shutdown", "cancelled")
_ENDS: Final = {
    "finished": "nothing was left to fetch",
    "unanswered": "no seed answered",
    "expected": "nothing expected in the language was left to fetch",
}
_NOT_ENDED: Final = "running or killed"


def written(folder: Path, labels: Path | None = None) -> Written:
    """Write the report of a crawl; `labels` is a file with a person's page labels."""
    table = None if labels is None else label_table(folder, labels)
    summary = write_report(folder, table)

    def show() -> None:
        print_summary(summary)
        if table is not None:
            Printer(width=WIDE).table(table)

    return Written(folder / "report.html", summary.as_json(), show)


def write_report(folder: Path, labels: Table | None = None) -> Summary:
    """Write `summary.json` and `report.html` of the run in `folder`, and return its figures.

    `labels` is the table of the figures by a person's labels, for the page. Each file is replaced
    in one step. Raises RunFolderError for a folder without a run.
    """
    with reading(folder) as connection:
        summary = summarise(connection)
        course = curve(connection, summary.lang)
        found = [
            *sites(connection, summary.lang),
            examples(connection, summary.lang),
            seed_table(connection, summary.seeds),
        ]
    write_summary(summary, folder)
    write_whole(folder / "report.html", crawl_report(summary, course, found, labels).html())
    return summary


def print_summary(summary: Summary, stream: TextIO | None = None) -> None:
    """Print the tables at the end of a crawl, to standard output by default."""
    printer = Printer(stream)
    title = f"{language_name(summary.lang)} ({summary.lang}), strategy {summary.strategy}"
    printer.table(Table(title, ("", "Run"), headline(summary)))
    printer.table(_languages(summary, _MOST_PRINTED))
    printer.table(counts_table("Outcomes", ("outcome", "URLs"), summary.outcomes, _MOST_PRINTED))
    printer.paragraph(_lead(summary))


def headline(summary: Summary) -> list[tuple[str, Cell]]:
    """Return the main figures of a run, as pairs of a name and a figure."""
    beyond = summary.counts.get("domain_full", 0) + summary.outcomes.get("domain_full", 0)
    return [
        ("pages", summary.pages),
        ("pages with a label", summary.labelled),
        *((f"of these by {name}", count) for name, count in summary.methods.items()),
        (_relevant(summary), summary.relevant),
        *_unless_zero("copies (their text stands on many domains)", summary.copies),
        ("harvest rate", summary.harvest_rate),
        *_of_each(summary),
        *_of_parts(summary),
        ("harvest rate, last 200 pages", summary.harvest_last_200),
        ("pages without a label", summary.unlabelled),
        *_unless_zero("pages that a browser showed", summary.rendered),
        *_unless_zero("pages that need a browser", summary.needs_browser),
        ("hosts", summary.hosts),
        ("most URLs of one host", summary.max_urls_per_host),
        *_unless_zero("URLs beyond the cap of their domain", beyond),
        ("downloaded", size(summary.bytes)),
        *([("embedded files", files)] if (files := _files(summary)) else []),
        *_kept_elsewhere(summary),
        ("time", duration(summary.seconds)),
        ("pages per second", number(summary.pages_per_second)),
        ("finish reason", _end(summary)),
        *_learnt(summary),
    ]


def _unless_zero(name: str, count: int) -> list[tuple[str, Cell]]:
    return [(name, count)] if count else []


def _unseen(summary: Summary) -> Iterator[str]:
    """Yield what a crawl without a browser did not see, in a sentence."""
    if number := summary.needs_browser:
        hosts = [*summary.needs_browser_hosts.items()][:3]
        most = ", ".join(f"{host} ({count:,})" for host, count in hosts)
        need = "page needs" if number == 1 else "pages need"
        yield f"{number:,} {need} a browser to show text and links, which are missing; most: {most}"


def _of_each(summary: Summary) -> Iterator[tuple[str, Cell]]:
    """Yield the harvest rate of each language of a target with several."""
    own = summary.relevant_by_language
    for code, relevant in own.items() if len(own) > 1 else ():
        yield f"harvest rate, {language_name(code)}", share_of(relevant, summary.labelled)


def _files(summary: Summary) -> str:
    """Return numbers and bytes of the embedded files; "" without any."""
    numbers, bytes_ = summary.embeds, size(summary.embed_bytes)
    fetched = numbers.get(FETCHED, 0) + numbers.get(FRAME, 0)
    return f"{fetched:,} of {sum(numbers.values()):,} fetched ({bytes_})" if numbers else ""


def _relevant(summary: Summary) -> str:
    more = "" if summary.in_scope is None else ", or in the scope"
    return f"relevant (in {language_name(summary.lang)}{more})"


def _of_parts(summary: Summary) -> Iterator[tuple[str, Cell]]:
    """Yield the pages that `-a scope` takes, and the harvest rate outside of it."""
    if summary.in_scope is not None:
        yield "pages in the scope", summary.in_scope
        yield f"of these in {language_name(summary.lang)}", summary.in_scope_and_language
        yield "harvest rate outside of the scope", summary.harvest_outside_scope


def _kept_elsewhere(summary: Summary) -> list[tuple[str, Cell]]:
    figure = f"{summary.revisits:,} ({size(summary.revisit_bytes)} not kept again)"
    return [("answers that another archive has", figure)] if summary.revisits else []


def _learnt(summary: Summary) -> Iterator[tuple[str, Cell]]:
    """Yield the errors of a learning ordering, and the changes since an earlier run."""
    if summary.brier is not None:
        yield "Brier score of the probabilities", f"{summary.brier:.4f}"
        yield "calibration error", summary.calibration_error
    if (changes := summary.changes) is not None:
        stayed = f"{changes['stayed']:,} ({changes['not_modified']:,} by the server's word)"
        yield "pages of the earlier run", changes["earlier"]
        yield "of these stayed", stayed
        yield "of these changed", changes["changed"]
        yield "of these vanished", changes["vanished"]
        yield "of these moved", changes["moved"]
        yield "of these not reached", changes["failed"]
        yield "of these not asked for", changes["not_asked"]
        yield "new pages", changes["new"]


def crawl_report(
    summary: Summary, course: Sequence[Portion], found: Sequence[Table], labels: Table | None = None
) -> Report:
    """Return the report of a crawl, the harvest rate first.

    `found` has the tables of domains, hosts, examples and seeds (`crawler.report.details`).
    """
    figures = {**dict(headline(summary)), "finish reason": summary.finish_reason or _NOT_ENDED}
    names = ("harvest rate", _relevant(summary), "pages")
    cards = [(name, figures.pop(name)) for name in names]
    rest = [(name, WORDS.get(name.split(" (")[0], ""), cell) for name, cell in figures.items()]
    low, high = map(percent, Portion(0, 0, summary.labelled, summary.relevant, 0).interval)
    harvest, queue = _charts(summary, course)
    asked, *others = _tables(summary)
    *by_yield, examples, seeds = found
    return Report(
        title=f"Crawl for {language_name(summary.lang)} ({summary.lang}), {summary.strategy}",
        lead=_lead(summary),
        period=(summary.started_at, summary.ended_at),
        cards=cards,
        interval=f"{low} to {high}" if summary.labelled else "",
        parts=[
            *(f"Note: {gap}." for gap in (*summary.gaps, *_unseen(summary))),
            *([] if labels is None else [labels]),
            harvest,
            Table("Figures", ("figure", "what it means", "value"), rest, text_columns=2),
            _languages(summary, _MOST_ROWS),
            counts_table("Outcomes of the URLs", ("outcome", "URLs"), summary.outcomes, _MOST_ROWS),
            counts_table("Embedded files", ("outcome", "files"), summary.embeds, _MOST_ROWS),
            counts_table(
                "Pages that need a browser, by host",
                ("host", "pages"),
                summary.needs_browser_hosts,
                _MOST_ROWS,
            ),
            *by_yield,
            *breakdown_tables(summary),
            drops(summary.outcomes, summary.counts, summary.embeds),
            queue,
            examples,
            Command("The command for the same crawl", summary.command),
            seeds,
            asked,
            *others,
        ],
        figures=summary.as_json(),
    )


def _lead(summary: Summary) -> str:
    """Return a summary sentence: what happened, how much, why the crawl ended."""
    lang, reason = language_name(summary.lang), summary.finish_reason
    end = f"It ended: {reason}."
    if why := _why(summary):
        end = f"It ended because {why}."
        end += " -a least_yield=0 continues it." if reason == "least_yield" else ""
    elif reason in GOALS:
        end = f"It ended at its goal of {'relevant pages' if reason == 'relevant' else reason}."
    elif reason in (None, *_STOPPED):
        end = "It runs, or was stopped: the same command with -s JOBDIR=FOLDER continues it."
    queued = f" {summary.queued:,} URLs are queued" if summary.queued else ""
    if queued and summary.queued_expected is not None:
        expected = f"{summary.queued_expected:,}" if summary.queued_expected else "none"
        queued += f", {expected} of them expected in {lang}"
    time = duration(summary.seconds)
    amount = f" {_of(summary.pages, 'page')} from {_of(summary.hosts, 'host')} in {time}."
    story = (_of_scope(summary, lang) or _story(summary, lang)) + (amount if summary.pages else "")
    files = f" Embedded files: {_files(summary)}." if summary.embeds else ""
    return f"{story}{files} {end}{queued}{'.' if queued else ''}"


def _of_scope(summary: Summary, lang: str) -> str:
    """Return the harvest inside and outside of a scope, in a sentence; "" without a scope."""
    if (inside := summary.in_scope) is None or not summary.pages:
        return ""
    others, outside = summary.labelled - inside, percent(summary.harvest_outside_scope)
    return (
        f"{percent(summary.harvest_rate)} of the pages are wanted: {inside:,} are in the scope, "
        f"{summary.in_scope_and_language:,} of them in {lang}; of {others:,} others {outside} are."
    )


def _story(summary: Summary, lang: str) -> str:
    """Return the most notable fact about the crawl, in a sentence."""
    pages, idle = summary.pages, summary.pages - summary.last_relevant
    if not pages:
        counted = summary.outcomes.items()
        reasons = ", ".join(f"{meaning(name)} ({_of(number, 'URL')})" for name, number in counted)
        return f"No page was fetched{': ' if reasons else ''}{reasons}."
    if not summary.relevant:
        return f"No page in {lang} was found."
    after = pages - (summary.last_expected or pages)
    if after >= max(_FEWEST_IDLE, pages / 20):
        what = "fetched" if summary.queued_expected else "queued"
        gain = f", {summary.relevant_after:,} of them in {lang}" if summary.relevant_after else ""
        return (
            f"After page {summary.last_expected:,} nothing expected in {lang} was {what}: "
            f"{after:,} pages{gain or ' for nothing'}."
        )
    if idle >= max(_FEWEST_IDLE, pages / 20):
        return (
            f"The last page in {lang} was page {summary.last_relevant:,}: {idle:,} for nothing; "
            "-a expected=only ends a crawl earlier."
        )
    first, last = summary.harvest_by_200[0].harvest_rate, summary.harvest_last_200
    if first is not None and last is not None and abs(first - last) >= 0.1:
        way = "rose" if last > first else "fell"
        good = [part for part in summary.harvest_by_200 if (part.harvest_rate or 0) >= first / 2]
        after = pages - good[-1].last
        found = sum(part.relevant for part in summary.harvest_by_200 if part.last > good[-1].last)
        more = f": {after:,} pages after page {good[-1].last:,} gave {found:,} in {lang}"
        return (
            f"The harvest rate {way} from {percent(first)} in the first 200 pages to "
            f"{percent(last)} in the last 200{more if after else ''}."
        )
    return f"{percent(summary.harvest_rate)} of the pages with a label are in {lang}."


def _of(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _end(summary: Summary) -> str:
    reason, why = summary.finish_reason or _NOT_ENDED, _why(summary)
    return f"{reason} ({why})" if why else reason


def _why(summary: Summary) -> str:
    """Return the reason of an end without a goal in words, or ""."""
    if summary.finish_reason == "least_yield":
        return (
            f"nothing more was to be found: {summary.relevant_in_last:,} of the last "
            f"{summary.last_pages:,} downloads were relevant"
        )
    return _ENDS.get(summary.finish_reason or "", "")


def _charts(summary: Summary, course: Sequence[Portion]) -> tuple[Chart, Chart]:
    portions = merged(summary.harvest_by_200, _MOST_PORTIONS)
    label = f"per {max((portion.pages for portion in portions), default=0):,} pages"
    title = "Harvest rate by number of pages"
    rows = [
        (part.span, part.labelled, part.relevant, part.harvest_rate, *part.interval)
        for part in portions
    ]
    every = max(1, -(-len(course) // _MOST_POINTS))
    points = [(f"{one.pages:,}", one.queued) for one in course[every - 1 :: every]]
    head = ("pages", "with a label", "relevant", "harvest rate", "from", "to")
    return (
        Chart(
            title=title,
            lines={
                label: [portion.point for portion in portions],
                "since the start": [(point.pages, point.harvest_rate) for point in course],
            },
            bands={label: [(part.point[0], *part.interval) for part in portions]},
            y_label="harvest rate",
            is_share=True,
            caption="Relevant pages per page with a label: for each portion of the pages (as in "
            "Baykan et al. 2013, Fig. 7), and for all pages since the start. The band is the 95 % "
            "interval of a portion (Wilson 1927): chance alone moves a rate so far.",
            table=Table(title, head, rows),
        ),
        Chart(
            title="Queued URLs",
            lines={"queue": [(point.pages, point.queued) for point in course]},
            y_label="queued URLs",
            table=Table("Queued URLs", ("pages", "queued URLs"), points),
        ),
    )


def _tables(summary: Summary) -> list[Table]:
    """Return the settings, then counts of parsers and answers."""
    counted = (
        ("How the language was identified", ("method", "pages"), summary.methods),
        ("HTTP statuses", ("status", "pages"), summary.statuses),
    )
    settings = [(name, value) for name, value in sorted(summary.settings.items()) if value]
    return [
        Table("Settings of the run", ("", ""), settings, text_columns=2),
        Table("Plug-ins", Plugin._fields, summary.plugins, text_columns=len(Plugin._fields)),
        *(counts_table(title, head, counts, _MOST_ROWS) for title, head, counts in counted),
        Table("Counters of the frontier", ("", ""), list(summary.counts.items())),
    ]


def _languages(summary: Summary, most: int) -> Table:
    """Return the most frequent languages, shares of labelled pages, the target marked."""
    named = {f"{language_name(code)} ({code})": n for code, n in summary.languages.items()}
    target = f"{language_name(summary.lang)} ({summary.lang})"
    for code in codes_of(summary.lang) if named else ():
        named.setdefault(f"{language_name(code)} ({code})", 0)
    return counts_table("Languages", ("language", "pages"), named, most, marked=target)


# --- One page


def explain(run: sqlite3.Connection | Path | str, url: str) -> tuple[list[str], Table]:
    """Explain the fetch time of a page: sentences, and each feature's part of the log-odds.

    The largest effect is first. The sum is shrunk to the score, because the weights are uncertain.
    The table is empty for an ordering without learning. Raises RunFolderError for a folder without
    a run, and for an unsettled URL. Cost: one scan of the pages.
    """
    normal = normalise(url)
    with reading(run) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        rows = connection.execute(_PAGE, (None if normal is None else fingerprint(normal),))
        row = rows.fetchone()
        if row is None:
            raise RunFolderError(f"{url} is no URL that this run fetched")
        page = dict(zip((column[0] for column in rows.description), row, strict=True))
        sentences = [page["url"], *_sentences(connection, meta, page)]
    try:
        parts = [float(part) for part in (page["reasons"] or "").split()]
        named = list(zip(FEATURES if parts else (), parts, strict=True))
    except ValueError as error:
        raise RunFolderError(f"the reasons of this URL are not {len(FEATURES)} numbers") from error
    named.sort(key=lambda part: -abs(part[1]))
    shrunk = percent(page["score"] / sum(parts) if sum(parts) else None)
    note = f"The sum is {_signed(sum(parts))}. It is shrunk to {shrunk} of that because the weights"
    return sentences, Table(
        "What each feature adds",
        ("feature", "log-odds"),
        [(name, _signed(added)) for name, added in named],
        notes=[f"{note} are uncertain."],
    )


def _sentences(
    connection: sqlite3.Connection, meta: Mapping[str, str], page: Mapping[str, Any]
) -> Iterator[str]:
    """Return a page's place, probability, discovery and outcome as sentences."""
    place = f"settled as URL {page['place']:,} of {page['settled']:,}"
    yield f"{place}; {page['queued']:,} were queued"
    if page["reasons"] is None:
        yield f"score {page['score']:.4g}, by the ordering {meta.get('ordering', '')}"
    else:
        chance = f"{probability_of(page['score']):.4f} (log-odds {_signed(page['score'])})"
        yield f"probability of {language_name(meta.get('lang', ''))} then: {chance}"
    earlier = "SELECT 1 FROM earlier WHERE url = ?"
    if connection.execute(earlier, (page["url"],)).fetchone():
        yield "a page of the earlier run (-a since): it goes before URLs that are new"
    elif page["parent"] is None:
        yield "no page linked to it first: it is a seed or came from a sitemap"
    else:
        query = "SELECT language FROM pages WHERE fingerprint = ? AND language IS NOT NULL"
        row = connection.execute(query, (fingerprint(page["parent"]),)).fetchone()
        label = row[0] if row else "without a label"
        yield f"first linked by {page['parent']} ({label}), depth {page['depth']}"
    result = f"{page['outcome']}, without a label"
    if page["language"] is not None:
        result = f"{page['outcome']}, {language_name(page['language'])} ({page['language']})"
        result += "" if page["confidence"] is None else f", confidence {page['confidence']:.2f}"
        result += ", a copy of a text that stands on many domains" if page["is_copy"] else ""
    result += ", taken by -a scope" if page["in_scope"] else ""
    yield f"it turned out to be: {result}"


def _signed(value: float) -> str:
    """`+1.20`; never `-0.00`."""
    return f"{round(value, 2) + 0.0:+.2f}"
