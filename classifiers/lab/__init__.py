"""The laboratory: what no crawl imports. Data sets, training, the papers' methods and studies."""
