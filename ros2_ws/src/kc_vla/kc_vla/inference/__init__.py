"""Models: the registry and the sessions that run them. No torch."""
