"""Referring expressions: what people call a thing, and which things that can mean."""
