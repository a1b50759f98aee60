"""Webs besides the live one: the sample web and archives."""

from crawler.sources.contract import NO_HEADERS, Answer, NotArchived, Reason, Unreachable, Web

__all__ = ["NO_HEADERS", "Answer", "NotArchived", "Reason", "Unreachable", "Web"]
