"""Import and export: from episode bags to LeRobot data sets, and from data sets, videos and other bags to them."""
