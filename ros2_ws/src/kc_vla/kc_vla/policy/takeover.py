"""A person takes over from a running policy by a button, and hands back: who drives, and from where that one goes on.

The button that must be held for anything to move takes over, another one hands back, and nothing else does: where the
person's device falls silent, the person drives still, and the arm holds. A person or policy that begins to drive begins
where the arm is: a chunk of the one before is void (`turn`), and the gripper stays as commanded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.driver import Driver
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot
from kc_vla.policy.interface import Backend
from kc_vla.policy.teleop import GONE_S, HeldButton, JoySettings

PEOPLE = ("joy", "leader")
"""What a person can drive with: backends of `kc_vla.policy.backends`. The buttons are those of the gamepad always."""


class Person(Backend, Protocol):
    """A backend whose network is a person who can begin anywhere."""

    def take(self, share: float | None, held: Callable[[], bool]) -> None:
        """Take control from where the arm is, with the gripper commanded to be `share` open, 0..1 (None: as it is).

        The arm stands while not `held()`: the button that must be held for anything to move.
        """
        ...


class Buttons:
    """Which buttons of a gamepad are pressed anew; one that was silent must show a button released first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with no button pressed.

        Args:
            clock: of what is offered, s.
        """
        self._clock = clock
        self._came = -np.inf
        self._held: frozenset[int] = frozenset()

    @property
    def heard(self) -> bool:
        """Return whether the gamepad reports its state."""
        return self._clock() - self._came <= GONE_S

    def press(self, buttons: Sequence[int]) -> frozenset[int]:
        """Take in the buttons, and return those that were not pressed before."""
        known, before = self.heard, self._held
        self._came = self._clock()
        self._held = frozenset(number for number, pressed in enumerate(buttons) if pressed == 1)
        return self._held - before if known else frozenset()

    def holds(self, number: int) -> bool:
        """Return whether a button was pressed by the last report."""
        return number in self._held


class Marks:
    """A person's word by a button, of how an episode went."""

    def __init__(self, settings: JoySettings | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with no button pressed.

        Args:
            settings: which button does what.
            clock: of what is offered, s.
        """
        self._settings, self._buttons = settings or JoySettings(), Buttons(clock)

    def offer(self, buttons: Sequence[int]) -> bool | None:
        """Take in the buttons; return True for a success, False for a failure, None where none or both are marked."""
        fresh = self._buttons.press(buttons)
        success, failure = self._settings.success in fresh, self._settings.failure in fresh
        return success if success != failure else None


class TakeOver:
    """Who drives in an episode. For one thread.

    Attributes:
        driver: who does.
        turn: counts the changes of an episode: what was asked for in another turn is void.
    """

    def __init__(
        self,
        person: Person,
        robot: Robot,
        newest: Callable[[], int],
        changed: Callable[[str], None],
        settings: JoySettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make it.

        Args:
            person: who may take over.
            robot: of the robot.
            newest: index of the newest frame.
            changed: `changed(why)` is called when the driver changes.
            settings: which button does what.
            clock: of what is offered, s.
        """
        self._person, self._robot, self._newest, self._changed = person, robot, newest, changed
        self._settings, self._buttons = settings or JoySettings(), Buttons(clock)
        self._enable = HeldButton(self._settings.enable, clock)
        self._running = self._asked = False
        self._told: tuple[int, ActionType, NDArray[np.float32]] | None = None
        self.driver, self.turn = Driver.POLICY, 0

    @property
    def ready(self) -> bool:
        """Return whether a person could take over now."""
        return self._buttons.heard

    def begin(self, episode: Episode) -> None:
        """Begin an episode, with the policy in control."""
        self._person.reset(episode)
        self._running, self._asked, self._told = True, False, None
        self.driver, self.turn = Driver.POLICY, 0

    def end(self) -> None:
        """End the episode: nobody takes over or hands back any more."""
        self._running = False

    def offer(self, axes: Sequence[float], buttons: Sequence[int]) -> None:
        """Take in the state of the gamepad.

        To take over, its button is held; to hand back, it is pressed with that released.
        """
        fresh = self._buttons.press(buttons)
        self._enable.offer(buttons)
        if not self._running:
            return
        enabled = self._buttons.holds(self._settings.enable)
        if self.driver is Driver.POLICY and enabled:
            self._change(Driver.PERSON, "a person has taken over")
        elif self.driver is Driver.PERSON and self._settings.hand_back in fresh and not enabled:
            self._change(Driver.POLICY, "the person has handed back")

    def asked(self, sequence: int) -> None:
        """Note that chunk `sequence` of the episode is asked for.

        One who hears of an episode when it has got going already, as after a new start, does not know who drove: so a
        person does, and hands back.
        """
        began_late = not self._asked and sequence > 0 and self.turn == 0
        self._asked = True
        if began_late:
            self._change(
                Driver.PERSON, "this began within the episode, who drove is not known: a person has to hand back"
            )

    def gave(self, frame: int, action_type: ActionType, actions: NDArray[np.float32]) -> None:
        """Store the actions (H, D) from `frame` on, of the person or policy in control."""
        self._told = (frame, action_type, actions)

    def _change(self, driver: Driver, why: str) -> None:
        if driver is Driver.PERSON:
            self._person.take(self.commanded_share(), lambda: self._enable.held)
        self.driver = driver
        self.turn += 1
        self._changed(why)

    def commanded_share(self) -> float | None:
        """Return how far the gripper is commanded to be open, 0..1; None before the first command.

        The next one in control keeps to it: the gripper must not release what it holds now.
        """
        if self._told is None:
            return None
        begin, action_type, actions = self._told
        row = actions[int(np.clip(self._newest() - begin, 0, len(actions) - 1))].astype(float)
        share = row[-1] if action_type is ActionType.TOOL_DELTA else self._robot.gripper_share(row)
        return float(np.clip(share, 0.0, 1.0))
