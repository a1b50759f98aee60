"""How the models of URLs and of texts are trained and checked."""
