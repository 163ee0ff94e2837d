"""The explorer of the rivals: any two methods beside NUTS."""
