"""The pictures of a study."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.study_plots import draw


def test_every_kind_of_figure_is_a_picture_with_its_texts(tmp_path: Path) -> None:
    leaf = {"says": "Yes", "positive": 60.0, "negative": 5.0}
    root = {
        **leaf,
        "test": "tld de <= 0.5",
        "left": {**leaf, "says": "No"},
        "right": leaf,
    }
    series = [{"label": "a", "y": [90.0, 80.0], "spread": [1.0, 2.0]}]
    lines = [{"label": "a", "x": [1000, 100], "y": [95.0, 80.0]}]
    of_f1 = {"y_label": "F1", "title": "$T"}
    figures: list[Mapping[str, Any]] = [
        {"name": "p", "kind": "points", "groups": ["x", "y"], "series": series, **of_f1},
        {"name": "b", "kind": "bars", "labels": ["$a"], "y": [9.0], "paper": [8.0], **of_f1},
        {"name": "c", "kind": "curves", "lines": lines, "x_label": "URLs", **of_f1},
        {"name": "t", "title": "$T", "kind": "tree", "root": root},
    ]
    paths = draw(figures, tmp_path / "plots")
    assert [path.name for path in paths] == ["p.svg", "b.svg", "c.svg", "t.svg"]
    expected = ("F1, %", "Baykan 2013", "URLs", "f(+) = 60.0 %")
    for path, text in zip(paths, expected, strict=True):
        picture = path.read_text()
        assert text in picture
        assert "$T" in picture
        assert picture.count("<path") > 3
    again = draw(figures, tmp_path / "again")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]
