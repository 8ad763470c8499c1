"""Sequences of instructions for the arm in a kitchen, and what each memory is worth in them."""
