"""The tests; as a package, so that no other one of this name is found first."""
