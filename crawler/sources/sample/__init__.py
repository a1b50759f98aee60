"""A small Web without a network: the same hosts, pages and faults for the same seed."""

from langfocus.crawler.sources.sample.web import SampleWeb

__all__ = ["SampleWeb"]
