"""LeRobot data sets, version 2.1: episodes of numbers and videos, with the keyframes of each beside them."""
