"""The ordering `focus`: all evidence about a URL as one probability, learned while crawling."""
