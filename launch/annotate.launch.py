"""The web page on which a person marks the keyframes of recorded episodes.

ros2 launch kc_vla annotate.launch.py bag:=runs
"""

from launch import LaunchDescription
from launch.actions import ExecuteProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.substitutions import ExecutableInPackage

from kc_vla.core.ports import ANNOTATION_PAGE
from kc_vla.launching.arguments import Argument
from kc_vla.launching.endings import end_with
from kc_vla.launching.kinds import PORT, ExistingPath, HostAddress


def generate_launch_description() -> LaunchDescription:
    """Describe the one process."""
    here = "address to listen at; 127.0.0.1: only this machine can open the page"
    arguments = [
        Argument("bag", ExistingPath(needed=True), description="a bag, or a folder with bags in it"),
        Argument("port", PORT, default_value=str(ANNOTATION_PAGE), description="port of the page"),
        Argument("host", HostAddress(), default_value="127.0.0.1", description=here),
    ]
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
    return LaunchDescription([*arguments, server])
