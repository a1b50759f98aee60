"""Figures, tables and pages about crawls, simulations and studies; starts no crawl."""
