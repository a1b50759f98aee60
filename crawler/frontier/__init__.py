"""The frontier decides which queued URL is fetched next."""
