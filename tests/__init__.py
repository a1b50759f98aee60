"""The tests; as a package, so that no other package named `tests` is imported first."""
