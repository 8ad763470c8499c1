"""The live map: where the robot is, what it believes, what is true; a page on this machine alone."""
