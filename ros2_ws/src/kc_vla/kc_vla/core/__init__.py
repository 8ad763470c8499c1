"""Definitions that all packages share: robots, tasks, states and actions, episodes, names of topics."""
