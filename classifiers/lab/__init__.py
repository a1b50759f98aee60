"""Data sets, training, methods of papers, and studies; no crawl imports this package."""
