"""Runs of page methods on labelled pages and texts, and their tables."""
