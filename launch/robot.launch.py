"""The whole graph around a robot: cameras, selector, buffer, policy, controller, arm. Ctrl-C parks the arm.

ros2 launch kc_vla robot.launch.py robot:=piper
ros2 launch kc_vla robot.launch.py robot:=ur5e_ros cameras:=desk.yaml policy:=joy
"""

from launch import LaunchDescription

from kc_vla.launching.arm_graph import arm_graph


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    return LaunchDescription(arm_graph(None, "the robot: a name of robots/, or a YAML file of your own"))
