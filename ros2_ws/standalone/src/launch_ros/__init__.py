"""The subset of ROS 2's `launch_ros` that kc_vla uses, for machines without ROS 2 (see the README beside it)."""

from . import actions, descriptions, parameter_descriptions, substitutions

__all__ = ["actions", "descriptions", "parameter_descriptions", "substitutions"]
