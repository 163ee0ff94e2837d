"""The published tables, one module each."""
