"""Check arguments, compile functions, write files, describe figures and results."""
