"""The keys of `Request.meta` that tie a request to its lease."""

LEASE = "langfocus_lease"
"""The key in `Request.meta` under which a request carries its lease."""

LEASED_AT = "langfocus_leased_at"
"""The key in `Request.meta` under which a request carries when its lease began, unix seconds."""

SLOT = "langfocus"
"""All requests share one slot of Scrapy's downloader: the frontier keeps the delays."""
