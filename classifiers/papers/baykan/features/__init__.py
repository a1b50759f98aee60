"""Feature sets of URLs as Baykan 2013 describes them."""
