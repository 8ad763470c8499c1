"""A recorded episode as a file of Rerun's."""
