"""Images and videos: drawing, conversion of image messages, MP4. No ROS."""
