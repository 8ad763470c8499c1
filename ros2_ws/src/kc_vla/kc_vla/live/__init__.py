"""The live page: what a running stack sees, remembers, means to do and does, in a browser."""
