"""Papers' tables, one module each."""
