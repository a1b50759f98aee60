"""All commands are called in the folder of the project, with its settings."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "langfocus.crawler.settings")
