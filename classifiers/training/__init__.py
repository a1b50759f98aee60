"""Training and evaluation of URL models and text models."""
