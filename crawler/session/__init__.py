"""A crawl is opened, runs and ends."""
