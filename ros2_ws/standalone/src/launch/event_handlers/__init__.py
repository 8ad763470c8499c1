"""Event handlers of a launch."""

from .on_process_exit import OnProcessExit
from .on_process_io import OnProcessIO
from .on_process_start import OnProcessStart
from .on_shutdown import OnShutdown

__all__ = ["OnProcessExit", "OnProcessIO", "OnProcessStart", "OnShutdown"]
