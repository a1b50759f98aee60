"""Politeness: which hosts a crawl may contact, when, and in whose name."""
