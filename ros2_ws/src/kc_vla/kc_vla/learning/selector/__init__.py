"""The keyframe selector: what it learns from, its networks and stages, export and evaluation."""
