"""Rows of tables of kc_vla, each in a file of its own."""
