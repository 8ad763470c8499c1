"""Keyframes as memories: which objects a keyframe shows, and where they were then."""
