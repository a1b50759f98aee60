"""The methods and studies of papers; no crawl imports this package but by the name of a method."""
