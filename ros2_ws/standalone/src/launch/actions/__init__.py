"""Actions of a launch description."""

from .declare_launch_argument import DeclareLaunchArgument
from .emit_event import EmitEvent
from .environment import (
    AppendEnvironmentVariable,
    SetEnvironmentVariable,
    UnsetEnvironmentVariable,
)
from .event_handlers import RegisterEventHandler, UnregisterEventHandler
from .execute_process import ExecuteProcess
from .group_action import GroupAction
from .include_launch_description import IncludeLaunchDescription
from .launch_configuration import SetLaunchConfiguration, UnsetLaunchConfiguration
from .log_info import LogInfo
from .opaque_function import OpaqueFunction
from .shutdown_action import Shutdown
from .timer_action import TimerAction

__all__ = [
    "AppendEnvironmentVariable",
    "DeclareLaunchArgument",
    "EmitEvent",
    "ExecuteProcess",
    "GroupAction",
    "IncludeLaunchDescription",
    "LogInfo",
    "OpaqueFunction",
    "RegisterEventHandler",
    "SetEnvironmentVariable",
    "SetLaunchConfiguration",
    "Shutdown",
    "TimerAction",
    "UnregisterEventHandler",
    "UnsetEnvironmentVariable",
    "UnsetLaunchConfiguration",
]
