"""The kitchen of textured household meshes of LIBERO, read from the PyPI packages that have them."""
