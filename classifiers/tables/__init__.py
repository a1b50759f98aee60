"""Facts about languages and top-level domains that are written by hand or copied."""
