"""Strategies of a crawl: orderings, filters and the relevance they rest on."""
