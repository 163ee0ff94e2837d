"""Experiments, one module for each topic."""
