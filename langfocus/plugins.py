"""The contracts of plug-ins, and the names that they are written with (docs/plugins.md)."""

from langfocus.classifiers.errors import PluginError
from langfocus.classifiers.pages.method import IdentifiesPages, PageLanguage, Surroundings, unknown
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.classifiers.urls.plugin_models import ScoresUrls
from langfocus.crawler.corpus.extraction import Extractor
from langfocus.crawler.corpus.formats import Writer
from langfocus.crawler.corpus.item import PageItem
from langfocus.crawler.sources.contract import Answer, Unreachable, Web
from langfocus.crawler.sources.seeds import SeedProvider
from langfocus.crawler.strategies.filters import AcceptsLinks
from langfocus.crawler.strategies.links import Draw, LinkSource
from langfocus.crawler.strategies.orderings import ScoresLinks

__all__ = [
    "AcceptsLinks",
    "Answer",
    "Draw",
    "Extractor",
    "IdentifiesPages",
    "LinkSource",
    "PageItem",
    "PageLanguage",
    "ParsedPage",
    "PluginError",
    "ScoresLinks",
    "ScoresUrls",
    "SeedProvider",
    "Surroundings",
    "Unreachable",
    "Web",
    "Writer",
    "unknown",
]
