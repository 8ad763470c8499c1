"""A policy that is a program outside ROS: the arm does what it says last, for as long as something comes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import DATA_DELTA_NAMES, ActionType
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot
from kc_vla.core.robot_model import SIMULATED
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.driven.action_exchange import ActionExchange
from kc_vla.policy.driven.server import About, ExternalServer
from kc_vla.policy.interface import PolicyError, PolicyInput
from kc_vla.policy.options import ExternalOptions

_PATIENCE_S = 0.5
_STALE_S = 0.25
_ROWS = 12
"""Actions of a chunk, longer than an answer takes on a busy machine."""
_MOVING = 4
"""Actions of a chunk that move the tool: an arm that hears nothing any more stops soon."""


class ExternalBackend:
    """Sends observations to a program, and takes the next action from it.

    What is said reaches the arm on the way that a network's actions take, with the same limits, holds and stops. An arm
    that is driven by its joints takes positions, any other robot tool deltas, each for one control step: in lock-step
    each is done once, in real time it is a speed until the next comes.
    """

    name = "driven"
    needs_keyframes = False
    needs_images = True
    needs_plan = False

    def __init__(self, robot: Robot, path: str) -> None:
        """Listen on a Unix socket.

        Raises:
            PolicyError: it cannot be opened, or another process listens there already.
        """
        codec = Codec(robot, ActionType.TOOL_DELTA if robot.driver.type == SIMULATED else ActionType.JOINT_POSITION)
        self.action_type, self.names = codec.action, codec.action_names
        tool = self.action_type is ActionType.TOOL_DELTA
        self._meeting = ActionExchange()
        self._server = ExternalServer(
            path,
            About(
                robot=robot.robot_type,
                state=codec.state_names if tool else robot.columns,
                action=DATA_DELTA_NAMES if tool else robot.columns,
                rate=robot.control_rate,
            ),
            self._meeting,
        )
        self._episode = ""

    def reset(self, episode: Episode) -> str:
        """Begin: nothing of what was said before counts."""
        self._episode = episode.id
        self._meeting.begin()
        return ""

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return what was said next, as rows; PolicyError where nothing comes."""
        now = (self._episode, given.frame, given.instruction, given.state, given.views)
        action = self._meeting.ask(*now, _PATIENCE_S, _STALE_S)
        if action is None:
            who = "the program that drives" if self._server.driven else f"a program at {self._server.path}"
            raise PolicyError(f"nothing comes from {who}: the arm holds")
        rows = np.tile(action.astype(np.float32), (_ROWS, 1))
        if self.action_type is ActionType.TOOL_DELTA:
            rows[_MOVING:, :-1] = 0.0
        return rows

    def close(self) -> None:
        """Listen no more."""
        self._server.close()


def open_driven(context: PolicyContext, options: ExternalOptions) -> ExternalBackend:
    """Return the backend at the socket that the options name.

    Raises:
        PolicyError: none is named, or it cannot be opened.
    """
    if not options.socket:
        raise PolicyError("policy:=driven needs socket:=, the path of a Unix socket at which a program drives")
    return ExternalBackend(context.robot, options.socket)
