"""Experiments, one module a topic; modules that begin with an underscore are shared."""
