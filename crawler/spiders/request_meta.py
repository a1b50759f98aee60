"""Keys of `Request.meta` that connect a request with its lease."""

LEASE = "langfocus_lease"
"""The key of the request's lease."""

LEASED_AT = "langfocus_leased_at"
"""The key of the time when the lease began, in unix seconds."""

SLOT = "langfocus"
"""The downloader slot that all requests share, since the frontier keeps the delays."""
