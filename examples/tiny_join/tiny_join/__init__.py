"""A design from outside: both windows in registers, compared all at once."""
