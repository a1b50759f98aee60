"""The crawl: what is fetched next, and what came back."""
