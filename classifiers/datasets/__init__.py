"""Labelled URLs, texts and pages: the formats they are published in, and splits of them."""

from classifiers.datasets.commoncrawl import CdxUrls, ColumnarUrls
from classifiers.datasets.formats import FORMATS, open_dataset
from classifiers.datasets.odp import OdpUrls
from classifiers.datasets.rows import Dataset, LabelledUrl
from classifiers.datasets.splits import domain_reader, split, stable_share
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
    "domain_reader",
    "open_dataset",
    "split",
    "stable_share",
]
