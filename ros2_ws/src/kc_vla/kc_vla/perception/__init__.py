"""Objects in camera images: detection, localization in 3-D, and tracking over views and time."""
