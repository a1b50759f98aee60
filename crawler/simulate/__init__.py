"""Strategies measured without fetching anything, on the graph of a recorded or generated Web.

It does not know Scrapy. Importing it is cheap: the first simulation loads the compiled code.
"""
