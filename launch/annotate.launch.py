"""The web page on which a person marks the keyframes of recorded episodes.

ros2 launch kc_vla annotate.launch.py bag:=runs
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.substitutions import ExecutableInPackage

from kc_vla.core.ports import ANNOTATION_PAGE
from kc_vla.launching.endings import end_with


def generate_launch_description() -> LaunchDescription:
    """Describe the one process."""
    arguments = {
        "bag": (None, "a bag, or a folder with bags in it"),
        "port": (str(ANNOTATION_PAGE), "of the page"),
        "host": ("127.0.0.1", "address to listen at; the default is reached from this machine alone"),
    }
    server = ExecuteProcess(
        cmd=[
            # not by this interpreter, which may be the system's: the program knows the one of its package
            ExecutableInPackage(executable="kc-vla", package="kc_vla"),
            *("annotate", "page", LaunchConfiguration("bag")),
            *("--port", LaunchConfiguration("port"), "--host", LaunchConfiguration("host")),
        ],
        name="annotate",
        output="screen",
        on_exit=end_with,
    )
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in arguments.items()
    ]
    return LaunchDescription([*declared, server])
