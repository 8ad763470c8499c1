"""Kitchens in which an instruction depends on what was where before a second hand moved it."""
