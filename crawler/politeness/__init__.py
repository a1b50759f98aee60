"""Politeness: the hosts that a crawl may contact, the times, and the name of the bot."""
