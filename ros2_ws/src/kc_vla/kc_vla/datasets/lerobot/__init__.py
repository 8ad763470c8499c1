"""LeRobot data sets, versions 2.1 and 3.0: episodes of numbers and videos, with the keyframes of each beside them."""
