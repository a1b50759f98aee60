"""One crawl by many workers: the frontier in Redis, the worker, the merging of their runs."""
