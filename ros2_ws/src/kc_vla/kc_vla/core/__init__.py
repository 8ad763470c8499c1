"""What every part of the stack agrees on: defined here once."""
