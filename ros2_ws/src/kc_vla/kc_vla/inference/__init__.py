"""Models at run time: their registry, and the sessions that run them. No torch."""
