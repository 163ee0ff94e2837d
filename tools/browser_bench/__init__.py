"""Operate a real JupyterLab in Chromium key by key, for `bench browser` and the tests."""
