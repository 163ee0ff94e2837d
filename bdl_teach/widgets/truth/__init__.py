"""Mean field beside the true posterior: which part of the gap between them has which cause."""
