"""Facts about languages and top-level domains that are written down by hand or copied."""
