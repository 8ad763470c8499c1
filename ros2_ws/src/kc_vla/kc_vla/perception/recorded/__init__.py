"""Perception of what a bag has recorded: which topics are cameras, their images joined, and what they show."""
