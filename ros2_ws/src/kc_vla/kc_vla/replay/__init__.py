"""A bag played to the live graph, and what differs. No ROS."""
