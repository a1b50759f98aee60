"""What a study of pages and texts counts, on answers that are known."""

import math
from dataclasses import dataclass, field, replace

import pytest

from langfocus.classifiers.datasets.texts import LabelledPage, LabelledText
from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.pages import methods
from langfocus.classifiers.pages.method import NOTHING, PageLanguage, Surroundings
from langfocus.classifiers.pages.parse import MAX_CHARACTERS, ParsedPage
from langfocus.classifiers.papers.page_cases import (
    DEFAULT_METHODS,
    Case,
    Cases,
    MethodRun,
    cases_of_pages,
    cases_of_texts,
    found_methods,
    run_of,
    text_page,
)
from langfocus.classifiers.papers.page_tables import CAI, CLAIMS, HAYATI, bucket, papers, results
from langfocus.classifiers.papers.table import MeasureTable, Row


@dataclass
class FirstWord:
    """Answers the first word of a page, and notes what it was asked."""

    knows: frozenset[str] = frozenset({"de", "en"})
    name: str = "first-word"
    asked: list[str] = field(default_factory=list)

    @property
    def languages(self) -> frozenset[str]:
        return self.knows

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        self.asked.append(page.text)
        word = page.text.partition(" ")[0]
        if word == "?":
            return PageLanguage(None, 0.0, "none", "a question mark")
        return PageLanguage(word, 0.75, "text", "the first word")


def case(language: str, text: str, kind: str = "sentence") -> Case:
    return Case(language, kind, text_page(text))


def study(
    *pairs: tuple[str, str], sort: str = "texts", length: int = 20
) -> tuple[Cases, MethodRun]:
    """Return cases from pairs of language and answer, and a method's run with the answers."""
    cases = Cases(sort, tuple(case(right, answer + " " + "x" * length) for right, answer in pairs))
    return cases, run_of(FirstWord(), cases.cases)


def tables(cases: Cases, run: MethodRun) -> dict[str, MeasureTable]:
    """The tables of a study by their names."""
    return {table.name: table for table in results(cases, [run]).tables}


def figures(row: Row) -> list[float]:
    return [cell.ours for cell in row.cells]


def test_a_text_becomes_a_page_without_links_and_declarations() -> None:
    page = text_page("  Ein\n kurzer\tText ")
    assert page.text == "Ein kurzer Text"
    assert page.links == []
    assert page.declarations == ()
    assert len(text_page("lang " * 9999).text) == MAX_CHARACTERS
    (one,) = cases_of_texts([LabelledText("Ein Text", "de", "sentence", "s")]).cases
    assert (one.language, one.kind, one.page.text) == ("de", "sentence", "Ein Text")
    assert one.surroundings == NOTHING


def test_no_answer_is_wrong_but_not_counted_in_precision() -> None:
    cases, run = study(("de", "de"), ("de", "?"), ("de", "en"), ("en", "en"))
    evidence = {row.heads[1]: figures(row) for row in tables(cases, run)["evidence"].rows}
    assert evidence["text"] == [75, pytest.approx(100 * 2 / 3)]
    assert evidence["none"] == [25, pytest.approx(math.nan, nan_ok=True)]
    macro = pytest.approx((100 / 3 + 100) / 2)
    expected = [50, macro, 50, macro, 75, pytest.approx(100 * 2 / 3)]
    assert figures(tables(cases, run)["accuracy"].rows[0]) == expected


def test_accuracy_in_known_languages_leaves_out_those_a_method_cannot_answer() -> None:
    found = tables(*study(("de", "de"), ("xh", "de"), ("zu", "?")))
    assert figures(found["accuracy"].rows[0])[:3:2] == [pytest.approx(100 / 3), 100]
    rows = {row.key["language"]: figures(row)[0] for row in found["languages"].rows}
    assert (rows["de"], math.isnan(rows["xh"])) == (100, True)


def test_every_language_is_asked_once_before_the_clock_runs() -> None:
    method = FirstWord()
    cases = [case("de", "de 1"), case("de", "de 2"), case("en", "en 3")]
    run = run_of(method, cases)
    assert method.asked == ["de 2", "en 3", "de 1", "de 2", "en 3"]
    assert run.answers == ["de", "de", "en"]
    assert run.ms_per_page > 0


def test_lengths_fall_into_one_bucket_each() -> None:
    ends = {"< 25": (0, 24), "25-50": (25, 49), "50-150": (50, 150), "> 150": (151, 2000)}
    assert {name: tuple(map(bucket, of)) for name, of in ends.items()} == {x: (x, x) for x in ends}


def test_lengths_are_of_sentences_and_paragraphs_or_of_all_where_there_are_none() -> None:
    kinds = "single-word", "sentence", "udhr-paragraph"
    cases = Cases("texts", tuple(case("de", "de a", kind) for kind in kinds))
    found = tables(cases, run_of(FirstWord(), cases.cases))["lengths"]
    assert [row.heads for row in found.rows] == [("< 25", "2")]
    assert Cases("pages", (case("de", "a", "web"),)).main_places == [0]


def test_confusions_are_counted_by_language_and_answer() -> None:
    _, run = study(("de", "nl"), ("de", "nl"), ("de", "de"), ("en", "de"), ("en", "?"))
    assert run.confusion() == {"de": {"nl": 2, "de": 1}, "en": {"de": 1, "unknown": 1}}


def test_the_papers_figures_stand_beside_ours_in_their_languages() -> None:
    cases, run = study(("de", "de"), ("de", "en"), ("ru", "de"), sort="pages", length=10)
    run.name = "nfc"
    found = {row.heads[1]: row for row in papers(cases, [run]).rows}
    nfc = found["NFC"].cells[0]
    assert (nfc.ours, nfc.paper) == (50.0, 93.9)
    assert (found["NFC"].heads[2], found["NFC, < 25 characters"].cells[0].ours) == ("2", 50.0)
    assert math.isnan(found["NFC, 25-50 characters"].cells[0].ours)
    assert found["top-level domain"].heads[2] == "0", "none of the pages has an address"
    assert (found["BASE"].cells[0].paper, math.isnan(found["BASE"].cells[0].ours)) == (86.8, True)


def test_the_papers_figures_are_those_they_print() -> None:
    assert len(HAYATI) == 11
    figures = [(claim.method, claim.figure) for claim in CLAIMS]
    assert figures[:3] == [("cavnar-trenkle", 86.8), ("nfc", 93.9), ("top-level-domain", 69.2)]
    assert [figure for name, figure in figures[3:] if name == "nfc"] == [33.8, 43.3, 38.0]
    assert [figure for name, figure in figures if name == "inlinks"] == [71.0, 70.9, 70.0]
    assert [figure for name, figure in figures if name == "cai"] == [99.64, 99.8, 100.0, 98.6]
    shares = [right for right, _ in CAI.values()]
    assert sum(shares) / len(shares) == pytest.approx(99.64, abs=0.01)
    assert {claim.method for claim in CLAIMS} <= set(methods.METHODS)


def test_cai_counts_what_is_right_among_the_pages_identified_as_a_language() -> None:
    cases, run = study(("de", "de"), ("de", "de"), ("da", "de"), ("fr", "fr"), sort="pages")
    run.name = "cai"
    run.decided = ["encoding", "declaration", "text", "encoding"]
    found = tables(cases, run)
    of_evidence = {row.heads[1]: row.cells for row in found["evidence"].rows}
    assert [cell.paper for cell in of_evidence["declaration"]] == [10.01, 99.8]
    assert [cell.ours for cell in of_evidence["encoding"]] == [50.0, 100.0]
    by_language = {row.key["language"]: row.cells[0] for row in found["precision"].rows}
    assert by_language["de"].ours == pytest.approx(200 / 3)
    assert by_language["de"].paper == 99.5
    by_encoding = {row.key["language"]: row.cells[0] for row in found["encoding-coverage"].rows}
    assert by_encoding["de"].ours == pytest.approx(100 / 3)
    assert (by_encoding["fr"].ours, by_encoding["fr"].paper) == (100.0, 0.0)
    claims = {row.heads[1]: row.cells[0].ours for row in found["papers"].rows}
    # Nothing was answered in Danish, which has a case; all other languages have none.
    assert claims["all three"] == pytest.approx((200 / 3 + 100) / 2)


def test_pages_are_parsed_once_and_know_their_address() -> None:
    body = '<html lang="de"><p>Grüße</p><a href="/x">mehr</a>'.encode()
    rows = [
        LabelledPage(str(n), url, "de", "web", body) for n, url in enumerate(("", "http://a.de/"))
    ]
    calls: list[tuple[str, int, int | None]] = []
    cases = cases_of_pages(rows, lambda *progress: calls.append(progress))
    assert [case.page.text for case in cases.cases] == ["Grüße mehr"] * 2
    assert [case.surroundings.url for case in cases.cases] == ["", "http://a.de/"]
    assert cases.parse_ms > 0
    assert calls == [("parsing", 1, None), ("parsing", 2, None)]


def test_methods_are_found_by_their_names() -> None:
    assert [method.name for method in found_methods()] == list(DEFAULT_METHODS)
    with pytest.raises(StudyError, match="no method is called 'poems'; choose one of: composite"):
        found_methods(["text", "poems"])


def test_the_steps_of_tamura_are_verified_apart_with_recall_beside_precision() -> None:
    pairs = (("th", "th"), ("en", "th"), ("th", "ja"), ("th", "th"), ("th", "?"), ("en", "en"))
    cases, run = study(*pairs, sort="pages")
    run.name = "tamura"
    run.decided[:3] = ["encoding"] * 3
    found = tables(cases, run)
    meta, grams = (
        {row.key["language"]: (row.heads[1:], figures(row)) for row in found[name].rows}
        for name in ("tamura-table-2", "tamura-table-3")
    )
    assert meta["th"] == (("1", "1", "1"), [50.0, 50.0])
    assert meta["ja"] == (("0", "1", "0"), [0.0, pytest.approx(math.nan, nan_ok=True)])
    assert grams["th"] == (("1", "0", "1"), [100.0, 50.0])
    assert grams["en"] == (("1", "0", "0"), [100.0, 100.0])
    thai = found["tamura-table-2"].rows[0]
    assert [cell.paper for cell in thai.cells] == pytest.approx([82.8, 98.3], abs=0.05)
    for other in tables(cases, replace(run, name="cai")), tables(replace(cases, sort="texts"), run):
        assert not [name for name in other if name.startswith("tamura")]
