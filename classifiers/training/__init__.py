"""Training and tests of the models of URLs and of texts."""
