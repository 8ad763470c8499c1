"""Carries a plan out: which thing is meant, where it is, what to do when something is otherwise than thought."""
