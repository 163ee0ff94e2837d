"""Support code without mathematics: argument checks, compiled programs, files, descriptions."""
