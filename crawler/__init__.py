"""The crawl: the choice of the next URL, and the reading of its answer."""
