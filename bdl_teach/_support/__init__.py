"""What stands behind the mathematics: argument checks, compiled programs, memory, words."""
