"""Baykan 2013: classifiers of URLs, and the study that compares them."""
