"""Events of a launch."""

from . import process
from .matchers import matches_action
from .shutdown import Shutdown
from .timer_event import TimerEvent

__all__ = ["Shutdown", "TimerEvent", "matches_action", "process"]
