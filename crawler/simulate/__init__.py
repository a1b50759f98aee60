"""Strategies measured without fetching anything, on the graph of a recorded or generated Web.

Knows no Scrapy. Importing it costs nothing: what is compiled is loaded by the first simulation.
"""
