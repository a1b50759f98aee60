"""The frontier: which URL is fetched next."""
