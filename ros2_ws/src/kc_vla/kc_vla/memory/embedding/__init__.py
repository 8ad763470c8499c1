"""Vectors of sentences: offline, from a folder, from the hub or from a server, behind one interface."""
