"""The judge of the host cap finds what is over it, and nothing else."""

import pytest

from benchmarks.host_cap import HOST_CAP, Figures, Request, judge, main


def log(*urls: str, status: int = 200, location: str | None = None) -> list[Request]:
    return [Request(float(at), url, status, location) for at, url in enumerate(urls)]


def test_pages_are_counted_by_host_and_by_page_not_by_spelling() -> None:
    asked = log(
        "http://a.de/1",
        "http://www.A.de:8080/2",
        "http://a.de/1?utm_source=x",
        "https://b.de/",
        "http://a.de/robots.txt",
        "http://a.de:81/robots.txt",
        "http://a.de/sitemap.xml",
    )
    found = judge(asked)
    assert found["a.de"] == Figures(
        urls=2, lines=3, tries=2, robots=2, robots_tries=1, sitemaps=1, origins=3, pages=2
    )
    assert found["b.de"].urls == 1


def test_one_redirect_to_another_spelling_makes_no_second_url() -> None:
    ways = ["http://a.de/x", "https://www.a.de/x/", "http://a.de/x/", "https://a.de/x"]
    hops = [
        Request(0.0, url, 301, target) for url, target in zip(ways, [*ways[1:], None], strict=True)
    ]
    assert judge(hops[:2])["a.de"].urls == 1
    # Two spellings are one URL; four in a row are two.
    assert judge(hops)["a.de"].urls == 2
    assert judge(log(*ways))["a.de"].urls == 4
    assert judge(log("http://a.de/x", "http://a.de/y", location="/y"))["a.de"].urls == 2


def test_a_request_that_a_kill_cut_off_is_no_try() -> None:
    asked = log(*["http://a.de/x"] * 9)
    assert judge(asked)["a.de"].tries == 9
    assert judge(asked, killed_at=[0.5, 4.5])["a.de"].tries == 7
    assert judge(asked, killed_at=[99.0])["a.de"].tries == 9


def test_what_is_over_a_limit_has_a_name() -> None:
    full = Figures(HOST_CAP, 20, 4, 10, 3, 10, 10, pages=10)
    assert full.faults(least=10) == []
    over = Figures(HOST_CAP + 1, 21, 5, 11, 4, 11, 11, pages=9)
    assert over.faults(least=10) == [
        *("urls", "lines", "tries", "robots", "robots_tries", "sitemaps", "origins", "pages")
    ]
    assert full.over(over) == over
    assert over.faults(least=0)[-1] == "origins"


def test_a_crawl_without_a_cap_of_its_own_is_judged_by_the_servers_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--cases", "idn", "--settings", "svm"]) == 0
    assert "| idn |" in capsys.readouterr().out
