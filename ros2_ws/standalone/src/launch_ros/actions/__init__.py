"""Actions for ROS nodes."""

from .lifecycle_node import LifecycleNode
from .node import Node
from .push_ros_namespace import PushRosNamespace
from .set_parameter import SetParameter
from .set_parameters_from_file import SetParametersFromFile
from .set_remap import SetRemap
from .set_use_sim_time import SetUseSimTime

__all__ = [
    "LifecycleNode",
    "Node",
    "PushRosNamespace",
    "SetParameter",
    "SetParametersFromFile",
    "SetRemap",
    "SetUseSimTime",
]
