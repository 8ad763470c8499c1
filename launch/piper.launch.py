"""The whole graph around an AgileX Piper, or an emulated one, as in robot.launch.py. Ctrl-C parks the arm.

ros2 launch kc_vla piper.launch.py
ros2 launch kc_vla piper.launch.py arm:=piper can:=can0 cameras:=desk.yaml policy:=joy task:=counting record:=true
"""

from launch import LaunchDescription

from kc_vla.launching.arm_graph import arm_graph

ROBOTS = "which Piper: piper, piper_h, piper_l, piper_x, or a YAML file, e.g. with other views"


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    return LaunchDescription(arm_graph("piper", ROBOTS))
