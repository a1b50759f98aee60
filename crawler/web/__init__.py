"""Where pages come from besides the live Web."""

from crawler.web.contract import NO_HEADERS, Answer, NotArchived, Reason, Unreachable, Web

__all__ = ["NO_HEADERS", "Answer", "NotArchived", "Reason", "Unreachable", "Web"]
