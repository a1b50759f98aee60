"""Readers of labelled URLs, texts and pages, and splits of the data."""

from classifiers.datasets.commoncrawl import CdxUrls, ColumnarUrls
from classifiers.datasets.formats import FORMATS, open_dataset
from classifiers.datasets.odp import OdpUrls
from classifiers.datasets.rows import Dataset, LabelledUrl
from classifiers.datasets.splits import distinct, domain_reader, split, stable_share
from classifiers.datasets.texts import LabelledPage, LabelledPages, LabelledText, LabelledTexts
from classifiers.datasets.tsv import COLUMNS, LabelledUrls

__all__ = [
    "COLUMNS",
    "FORMATS",
    "CdxUrls",
    "ColumnarUrls",
    "Dataset",
    "LabelledPage",
    "LabelledPages",
    "LabelledText",
    "LabelledTexts",
    "LabelledUrl",
    "LabelledUrls",
    "OdpUrls",
    "distinct",
    "domain_reader",
    "open_dataset",
    "split",
    "stable_share",
]
