"""Experiments, one topic a module; what begins with an underscore several of them share."""
