"""Keys of `Request.meta`: the lease of a request, and what was sent."""

LEASE = "langfocus_lease"
"""The key of the request's lease."""

LEASED_AT = "langfocus_leased_at"
"""The key of the time when the lease began, in unix seconds."""

SLOT = "langfocus"
"""The downloader slot that all requests share, since the frontier keeps the delays."""

HEADS = "langfocus_heads"
"""The key of the bytes before the bodies of a request and its answer, from the live Web."""

ROBOTS = "langfocus_robots"
"""The key of the version of robots.txt that allowed the request."""

ROBOTS_BYTES = "langfocus_robots_bytes"
"""The key of the bytes of a robots.txt until now; only a request for one has it."""

EXCHANGE = "langfocus_exchange"
"""The key of a request and its answer as they were sent; missing if nothing keeps them."""

ROBOTS_FILE = "langfocus_robots_file"
"""The key of the URL of the file with rules that the request asks for."""

READ_PAGE = "langfocus_page"
"""The key of a download and its page, which is None if the crawl reads it itself."""
