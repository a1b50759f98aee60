"""Figures, tables and pages about crawls, simulations and studies; no crawl is started here."""
