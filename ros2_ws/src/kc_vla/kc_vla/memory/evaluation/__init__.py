"""How well the memories do: hit rates of replacement policies, and what recall finds."""
