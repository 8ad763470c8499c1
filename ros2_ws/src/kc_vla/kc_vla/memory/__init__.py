"""The two memories: recently seen or used objects, and the scene graph of places and objects."""
