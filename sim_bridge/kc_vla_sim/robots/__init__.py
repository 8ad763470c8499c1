"""Robots of the simulation."""
