"""URL classifiers of Baykan 2013, and their comparison study."""
