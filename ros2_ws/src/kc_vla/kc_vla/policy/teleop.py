"""Policies whose network is a person: one who leads a second arm by hand, and one at a gamepad or keyboard.

Such a person may be in control from the first frame on, or take over from another policy (`kc_vla.policy.takeover`).
These commands reach the arm on the way that a network's actions take, with the same limits and the same fail-safe.
When nothing comes any more, the few actions of the last chunk are used up and the arm holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot
from kc_vla.policy.interface import PolicyError, PolicyInput

TELEOP_HORIZON = 12
"""Actions of a chunk, longer than an answer takes on a busy machine."""
_MOVING = 4
"""Actions of a chunk that move by a stick: an arm that hears nothing any more stops soon."""
STALE_S = 0.25
"""s without a word after which a person's device counts as gone."""
GONE_S = 1.0
"""s without a word after which buttons count as unknown: a busy machine may be silent for a moment, a cable that is put
back takes longer."""
_APPROACH = 0.4
"""rad/s of the way to where the leader is, before the arm follows."""
_TOGETHER = 0.03
"""rad; from there on it follows."""
_PARTED = 0.5
"""rad; a leader this far away is approached again."""
_GRIPPED = 0.004
"""m that the leader's gripper is moved before that of an arm that was taken over follows."""


class HeldButton:
    """The button that must be held for anything to move; of a gamepad that was away it must be released first."""

    def __init__(self, number: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with the button released.

        Args:
            number: of the button.
            clock: of what is offered, s.
        """
        self._number, self._clock = number, clock
        self._came = -np.inf
        self._pressed = self._let_go = False

    def offer(self, buttons: Sequence[int]) -> None:
        """Take in the buttons."""
        now = self._clock()
        self._pressed = self._number < len(buttons) and buttons[self._number] == 1
        self._let_go = (self._let_go and now - self._came <= GONE_S) or not self._pressed
        self._came = now

    @property
    def heard(self) -> bool:
        """Return whether the gamepad or keyboard reports its state."""
        return self._clock() - self._came <= STALE_S

    @property
    def held(self) -> bool:
        """Return whether it is held, as far as is known now."""
        return self.heard and self._let_go and self._pressed


class LeaderBackend:
    """Be where the leader is; slowly until the arm is there for the first time, and again when they were parted."""

    name = "leader"
    needs_keyframes = False
    needs_images = False
    needs_plan = False
    action_type = ActionType.JOINT_POSITION

    def __init__(self, robot: Robot, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without a state of the leader.

        Args:
            robot: of both arms.
            clock: of what is offered, s.
        """
        self.names = robot.names
        self._clock = clock
        self._lead: NDArray[np.float64] | None = None
        self._came = -np.inf
        self._period = 0.05
        self._follows = False
        self._opening = robot.opening
        self._from_here = False
        self._between: NDArray[np.float64] | None = None  # the arm's joints less the leader's, where it was taken over
        self._lead_gripper, self._gripper = 0.0, np.nan
        self._held: Callable[[], bool] = lambda: True
        self._at: NDArray[np.float64] | None = None  # where it was told to be since it was taken over

    def offer(self, lead: NDArray[np.float64]) -> None:
        """Take in that the leader is at `lead` (N + 1,), rad and m; what is not finite is ignored."""
        if lead.shape == (len(self.names),) and np.isfinite(lead).all():
            self._lead, self._came = np.array(lead, float), self._clock()

    def reset(self, episode: Episode) -> str:
        """Approach the leader anew."""
        self._period = episode.period_ns * 1e-9
        self._follows = self._from_here = False
        return ""

    def take(self, share: float | None, held: Callable[[], bool]) -> None:
        """Drive from where the arm is: it moves as the leader is moved from now on, wherever the leader is.

        The gripper stays as commanded, `share` open, 0..1 (None: as it is), until the leader's is moved. While not
        `held()` the arm stands, and then goes on from there.
        """
        self._from_here, self._between, self._at, self._held = True, None, None, held
        self._gripper = np.nan if share is None else share * self._opening

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the next rows."""
        if self._lead is None or self._clock() - self._came > STALE_S:
            self._follows, self._between, self._at = False, None, None
            raise PolicyError("nothing comes from the leader arm: the arm holds")
        here = given.state
        if self._from_here:
            return np.tile(self._as_led(self._lead, here), (TELEOP_HORIZON, 1)).astype(np.float32)
        joints = slice(0, len(self.names) - 1)
        far = float(np.abs(self._lead[joints] - here[joints]).max())
        self._follows = far < _PARTED if self._follows else far < _TOGETHER
        if self._follows:
            return np.tile(self._lead, (TELEOP_HORIZON, 1)).astype(np.float32)
        rows, at = [], here.copy()
        step = _APPROACH * self._period
        for _ in range(TELEOP_HORIZON):
            way = self._lead - at
            way[joints] *= min(1.0, step / max(float(np.abs(way[joints]).max()), 1e-9))
            at = at + way
            rows.append(at)
        return np.array(rows, np.float32)

    def _as_led(self, lead: NDArray[np.float64], here: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where to be: as far from where the arm stood as the leader was led since then."""
        if self._at is None:
            self._at = here.copy()
            self._gripper = float(here[-1]) if np.isnan(self._gripper) else self._gripper
            self._at[-1] = self._gripper
        if not self._held():
            self._between = None
            return self._at
        if self._between is None or np.abs(lead[:-1] + self._between - here[:-1]).max() > _PARTED:
            stands = self._at if self._between is None else here
            self._between = stands[:-1] - lead[:-1]
            self._lead_gripper = float(lead[-1])
        if abs(lead[-1] - self._lead_gripper) > _GRIPPED:
            self._lead_gripper, self._gripper = np.inf, float(lead[-1])
        self._at = np.array([*(lead[:-1] + self._between), self._gripper])
        return self._at


@dataclass(frozen=True)
class JoySettings:
    """Which axis and button does what; numbers as the ROS package `joy` gives them for an Xbox gamepad.

    Attributes:
        x, y, z: axes that move the flange along the base's axes.
        roll, pitch, yaw: axes that turn it about them.
        enable: button that must be held, or nothing moves; it takes over from a policy, too.
        close, open: buttons of the gripper.
        hand_back: button that lets the policy go on.
        success, failure: buttons that end the episode, and say how it went.
        speed: m/s at full deflection.
        turn: rad/s at full deflection.
        gripper: openings per second.
        dead: deflection below which an axis is at rest.
    """

    x: int = 1
    y: int = 0
    z: int = 4
    roll: int = 6
    pitch: int = 7
    yaw: int = 3
    enable: int = 4
    close: int = 0
    open: int = 1
    hand_back: int = 5
    success: int = 7
    failure: int = 6
    speed: float = 0.1
    turn: float = 0.6
    gripper: float = 0.7
    dead: float = 0.1


class JoyBackend:
    """Move the flange as the sticks say while the enabling button is held."""

    name = "joy"
    needs_keyframes = False
    needs_images = False
    needs_plan = False
    action_type = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES

    def __init__(self, settings: JoySettings | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without a state of the gamepad.

        Args:
            settings: which axis and button does what.
            clock: of what is offered, s.
        """
        self._settings = settings or JoySettings()
        self._axes: list[float] = []
        self._buttons: list[int] = []
        self._enable = HeldButton(self._settings.enable, clock)
        self._period = 0.05
        self._share: float | None = None

    def offer(self, axes: list[float], buttons: list[int]) -> None:
        """Take in the state of the gamepad.

        One that was silent moves nothing until its enabling button was released.
        """
        self._axes, self._buttons = axes, buttons
        self._enable.offer(buttons)

    def reset(self, episode: Episode) -> str:
        """Begin an episode with the gripper as it is."""
        self._period = episode.period_ns * 1e-9
        self._share = None
        return ""

    def take(self, share: float | None, held: Callable[[], bool]) -> None:
        """Take control from where the arm is, with the gripper commanded to be `share` open, 0..1 (None: as it is).

        The sticks need the same button, so `held` tells nothing new.
        """
        self._share = share

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the next rows."""
        if not self._enable.heard:
            raise PolicyError("nothing comes from the gamepad or keyboard: the arm holds")
        if self._share is None:
            self._share = float(given.state[-1])
        keys, enabled = self._settings, self._enable.held
        way = np.array([self._axis(k) for k in (keys.x, keys.y, keys.z)]) * keys.speed * self._period * enabled
        turn = np.array([self._axis(k) for k in (keys.roll, keys.pitch, keys.yaw)]) * keys.turn * self._period * enabled
        grip = (self._pressed(keys.open) - self._pressed(keys.close)) * keys.gripper * self._period * enabled
        shares = np.clip(self._share + grip * np.arange(1, TELEOP_HORIZON + 1), 0.0, 1.0)
        self._share = float(shares[0])
        rows = np.array([[*way, *turn, share] for share in shares], np.float32)
        rows[_MOVING:, :-1] = 0.0
        rows[_MOVING:, -1] = rows[_MOVING - 1, -1]
        return rows

    def _axis(self, number: int) -> float:
        """Return the deflection, -1..1; 0 for an axis that is not there or reports nonsense."""
        value = self._axes[number] if number < len(self._axes) else 0.0
        return float(np.clip(value, -1.0, 1.0)) if np.isfinite(value) and abs(value) >= self._settings.dead else 0.0

    def _pressed(self, number: int) -> bool:
        return number < len(self._buttons) and self._buttons[number] == 1
