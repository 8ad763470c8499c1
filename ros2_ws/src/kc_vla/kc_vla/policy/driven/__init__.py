"""A program outside ROS drives the arm, such as LeRobot's: the backend, its socket, and the program's end of it."""
