"""Crops of what was seen: cut out of images, kept in bounded stores, read by pages, models and recall."""
