"""`bench browser`: a real JupyterLab in Chromium, driven key by key; it comes with a checkout."""
