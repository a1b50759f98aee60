"""Texts from the archives of crawls: extraction, repeated lines, near-duplicates, exports."""
