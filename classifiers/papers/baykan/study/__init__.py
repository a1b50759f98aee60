"""The study of Baykan 2013 (3.2, 3.3 and 4) on any labelled URLs.

samples -> folds -> validation (decisions out of fold) -> experiments (tables beside the paper's)
"""
