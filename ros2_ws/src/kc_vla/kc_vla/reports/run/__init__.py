"""The page of a whole run: one HTML file beside the episodes, which opens from disk."""
