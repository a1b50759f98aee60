"""Metrics: what a scraper reads of a snapshot, and what the Grafana dashboard asks for."""

import json
import re

import pytest

from langfocus.crawler.report.live import Goal
from langfocus.crawler.report.metrics import metrics
from tests.crawler.spiders.test_watch import Crawl
from tests.support.crawls import ROOT

SAMPLE = re.compile(r'langfocus_(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\.)*",?)+)\})? (-?[\d.e+-]+)')


def samples(text: str) -> dict[str, dict[str, float]]:
    """Read the format strictly: each family's help, type and samples, in this order, once."""
    found: dict[str, dict[str, float]] = {}
    family = kind = ""
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP langfocus_"):
            family = line.split(" ")[2].removeprefix("langfocus_")
            assert family not in found
            found[family] = {}
        elif line.startswith("# TYPE "):
            assert line.split(" ")[2] == f"langfocus_{family}"
            kind = line.split(" ")[3]
            assert (kind == "counter") is family.endswith("_total")
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            end = sample[1].removeprefix(family)
            assert end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
            key = end + (sample[2] or "")
            assert key not in found[family]
            found[family][key] = float(sample[3])
    return found


def test_the_metrics_have_the_figures_of_the_snapshot_and_no_series_of_a_host() -> None:
    crawl = Crawl()
    for number in range(50):
        crawl.settle(url=f"http://h{number}.de/", host=f"h{number}.de")
        crawl.crawl.traffic.note_fetch(0.2)
    crawl.settle(language="en")
    crawl.settle("timeout", None)
    crawl.crawl.traffic.note_fetch(99.0)
    drops = {"dropped_host_full": 4, 'a "quoted" \\ name\nof two lines': 1}
    text = metrics(crawl.look(drops=drops, limit="network"))
    found = samples(text)
    assert found["pages_total"] == {'outcome="page"': 51, 'outcome="timeout"': 1}
    assert found["relevant_pages_total"] == {"": 50}
    assert found["harvest_ratio"][""] == pytest.approx(50 / 51)
    assert found["hosts"]['state="resting"'] == 20
    assert found["drops_total"]['reason="dropped_host_full"'] == 4
    assert len(found["drops_total"]) == 2
    assert found["limited_by"]['part="network"'] == sum(found["limited_by"].values()) == 1
    histogram = found["page_seconds"]
    assert histogram['_bucketle="0.1"'] == 0
    assert histogram['_bucketle="0.25"'] == histogram['_bucketle="30"'] == 50
    assert histogram['_bucketle="+Inf"'] == histogram["_count"] == 51
    assert histogram["_sum"] == pytest.approx(109.0)
    assert "expected_urls" in found
    assert found["expected_urls"] == {}
    page = (ROOT / "docs/dashboard.md").read_text(encoding="utf-8")
    assert set(re.findall(r"langfocus_(\w+)", page)) == set(found)
    assert ".de" not in text
    assert len(text.splitlines()) < 120


def test_grafana_and_the_alert_rules_ask_for_metrics_that_exist() -> None:
    text = (ROOT / "docs/compose/grafana.json").read_text(encoding="utf-8")
    crawl = Crawl()
    crawl.settle()
    known = metrics(crawl.look(drops={"a": 1}, expected=3, goals=(Goal("pages", 1, 2),)))
    panels = json.loads(text)["panels"]
    alerts = (ROOT / "docs/compose/alerts.yml").read_text(encoding="utf-8")
    rules = re.findall(r"^ +expr: (.+)", alerts, re.MULTILINE)
    assert len(rules) == alerts.count("alert: ") >= 5
    queries = [target["expr"] for panel in panels for target in panel["targets"]] + rules
    asked = {name for query in queries for name in re.findall(r"langfocus_\w+", query)}
    assert len(asked) >= 10
    assert {name for name in asked if not re.search(rf"^{name}[ {{]", known, re.MULTILINE)} == set()
    labels = {
        label for query in queries for label in re.findall(r"(?:by|without) \((\w+)\)", query)
    }
    assert all(f"{label}=" in known for label in labels - {"le"})
    assert all(panel["title"] and panel["gridPos"] for panel in panels)
    page = (ROOT / "docs/dashboard.md").read_text(encoding="utf-8")
    names = re.findall(r"alert: (\w+)", alerts)
    assert names == re.findall(r"^\| `([A-Z]\w+)` \|", page, re.MULTILINE)


def test_files_that_the_compose_file_mounts_exist() -> None:
    folder = ROOT / "docs/compose"
    text = (folder / "compose.yaml").read_text(encoding="utf-8")
    mounted = re.findall(r'"\./([^:"]+):', text)
    assert {"alerts.yml", "grafana", "grafana.json", "prometheus.yml"} == set(mounted)
    assert all((folder / name).exists() for name in mounted)
    ports = re.findall(r'^ +ports: \["([^"]+)"\]', text, re.MULTILINE)
    assert ports == ["127.0.0.1:9090:9090", "127.0.0.1:3000:3000"]
