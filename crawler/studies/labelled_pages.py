"""Labelled pages in a WARC file, whose labels are in a table beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from langfocus.classifiers.datasets.rows import Dataset, cells_of, unreadable
from langfocus.classifiers.datasets.texts import LabelledPage
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.languages import canonical
from langfocus.crawler.sources.archive import answers
from langfocus.crawler.sources.warc_reader import Damage
from langfocus.crawler.url import normalise

LABELS: Final = ("lang", "language", "directory_lang")
"""Names of the language column; the first one in the table counts."""


@dataclass
class ArchivedPages(Dataset[LabelledPage]):
    """The pages of a WARC file with a label in the table `labels`: columns url and one of LABELS.

    Skipped and counted are answers without a label, with another status than 2xx, repeated URLs,
    and damaged records. DatasetError if the table lacks a column, or if a file cannot be read.
    """

    labels: Path

    def _rows(self) -> Iterator[LabelledPage]:
        labels = self._labels()
        try:
            for found in answers(self.path):
                if isinstance(found, Damage):
                    self.reasons["damaged"] += 1
                    continue
                url = normalise(found.url) or ""
                language = labels.pop(url, None)
                if language is None:
                    self.reasons["no label"] += 1
                elif not 200 <= found.answer.status < 300:
                    self.reasons["another status than 2xx"] += 1
                else:
                    yield LabelledPage(url, url, language, "archive", found.answer.body)
        except OSError as error:
            raise unreadable(str(self.path), error) from error

    def _labels(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for written, *tags in cells_of(self.labels, ("url",), Counter(), LABELS):
            url, language = normalise(written), canonical(next(filter(None, tags), ""))
            if url and language:
                found[url] = language
        if not found:
            wanted = f"the columns url and {' or '.join(LABELS)}"
            raise DatasetError(f"{self.labels}:1: expected {wanted}")
        return found
