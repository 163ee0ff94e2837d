"""A package, because files in tests/methods have the same names."""
