"""Rules that find keyframes in the measured state: gripper edges, height peaks, standstills, brightness jumps.

Each rule sees one frame after the other and gives a score in 0..1 for it, so that it can stand where the learned
selector stands. The paper annotates demonstrations with such signals (section 4.2, "hybrid strategy").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

CLOSED, OPEN = 0.015, 0.055
"""Gripper openings (m) between which it holds something."""


@dataclass(frozen=True)
class Signals:
    """What the rules look at in one frame.

    Attributes:
        brightness: mean gray level of the image of the first view, 0..255.
        gripper: opening, m.
        height: of the tool center point above the robot base, m.
        speed: of the tool center point, m/s.
    """

    brightness: float
    gripper: float
    height: float
    speed: float


class KeyframeRule(Protocol):
    """Scores frames one after the other; each instance serves one phase."""

    needs: ClassVar[tuple[str, ...]]
    """Fields of `Signals` that it looks at."""

    def update(self, signals: Signals) -> float:
        """Return the score of the next frame, 0..1."""
        ...


@dataclass
class FirstFrame:
    """The first frame it sees."""

    needs: ClassVar[tuple[str, ...]] = ()
    _seen: bool = False

    def update(self, signals: Signals) -> float:
        """Return 1 once, then 0."""
        score = 0.0 if self._seen else 1.0
        self._seen = True
        return score


@dataclass
class BrightnessJump:
    """A lamp goes on or off: the mean gray level jumps from one frame to the next.

    The score is 0.5 at `levels` and grows with the jump.
    """

    needs: ClassVar[tuple[str, ...]] = ("brightness",)
    levels: float = 1.0
    _last: float | None = None

    def update(self, signals: Signals) -> float:
        """Return how far the brightness jumped, relative to `levels`."""
        last, self._last = self._last, signals.brightness
        if last is None:
            return 0.0
        jump = abs(signals.brightness - last)
        return jump / (jump + self.levels)


@dataclass
class GripperEdge:
    """The gripper closes or opens: its opening crosses the middle, with hysteresis `band` (m) around it."""

    needs: ClassVar[tuple[str, ...]] = ("gripper",)
    middle: float = 0.02
    band: float = 0.008
    _open: bool | None = None

    def update(self, signals: Signals) -> float:
        """Return 1 in the frame in which the gripper changed sides."""
        if self._open is None:
            self._open = signals.gripper > self.middle
            return 0.0
        edge = self.middle + (-self.band / 2 if self._open else self.band / 2)
        now = signals.gripper > edge
        changed, self._open = now != self._open, now
        return float(changed)


@dataclass
class HeightPeak:
    """The tool is at its highest: within `band` (m) of the highest point, after a rise of `rise` (m)."""

    needs: ClassVar[tuple[str, ...]] = ("height",)
    rise: float = 0.05
    band: float = 0.002
    _low: float = field(default=float("inf"))
    _high: float = field(default=float("-inf"))

    def update(self, signals: Signals) -> float:
        """Return 1 near the top; greedy smoothing then keeps the last such frame."""
        height = signals.height
        if height < self._low or self._high - height > self.rise:
            self._low = self._high = height
        self._high = max(self._high, height)
        return float(self._high - self._low >= self.rise and self._high - height <= self.band)


@dataclass
class CarriedPeak:
    """The tool is as high as it gets while it holds something: fingers neither closed nor open, as `HeightPeak` then.

    A hand that goes high with nothing in its grip makes no peak. `closed` and `open` are gripper openings, m.
    """

    needs: ClassVar[tuple[str, ...]] = ("gripper", "height")
    closed: float = CLOSED
    open: float = OPEN
    _peak: HeightPeak = field(default_factory=HeightPeak)

    def update(self, signals: Signals) -> float:
        """Return 1 near the top of what is carried; greedy smoothing then keeps the last such frame."""
        if not self.closed < signals.gripper < self.open:
            self._peak = HeightPeak()
            return 0.0
        return self._peak.update(signals)


@dataclass
class LiftOff:
    """What the tool has taken hold of leaves its place: the tool has risen by `rise` (m) since the lowest point there.

    `closed` and `open` are gripper openings, m.
    """

    needs: ClassVar[tuple[str, ...]] = ("gripper", "height")
    rise: float = 0.01
    closed: float = CLOSED
    open: float = OPEN
    _low: float | None = None
    _done: bool = False

    def update(self, signals: Signals) -> float:
        """Return 1 in the first frame of each grip in which the thing is up."""
        if not self.closed < signals.gripper < self.open:
            self._low, self._done = None, False
            return 0.0
        self._low = signals.height if self._low is None else min(self._low, signals.height)
        if self._done or signals.height - self._low < self.rise:
            return 0.0
        self._done = True
        return 1.0


@dataclass
class Standstill:
    """The tool comes to rest: slower than `slow` after having been faster than `fast` (m/s)."""

    needs: ClassVar[tuple[str, ...]] = ("speed",)
    fast: float = 0.05
    slow: float = 0.01
    _moving: bool = False

    def update(self, signals: Signals) -> float:
        """Return 1 in the frame in which the tool came to rest."""
        if signals.speed > self.fast:
            self._moving = True
        elif self._moving and signals.speed < self.slow:
            self._moving = False
            return 1.0
        return 0.0


RULES: dict[str, type[KeyframeRule]] = {
    "first_frame": FirstFrame,
    "brightness_jump": BrightnessJump,
    "gripper_edge": GripperEdge,
    "height_peak": HeightPeak,
    "lift_off": LiftOff,
    "carried_peak": CarriedPeak,
    "standstill": Standstill,
}
"""The names by which the task table calls the rules."""


class CueScorer:
    """Scores frames with the rule of the phase that is waited for.

    All rules see all frames, so that a rule whose turn comes knows what went before.
    """

    def __init__(self, cues: tuple[str, ...]) -> None:
        """Begin an episode.

        Args:
            cues: the name of the rule of each phase.
        """
        unknown = sorted(set(cues) - set(RULES))
        if unknown:
            raise ValueError(f"unknown rule '{unknown[0]}': choose one of {', '.join(sorted(RULES))}")
        self._cues = cues
        self._rules = {name: RULES[name]() for name in dict.fromkeys(cues)}

    @property
    def needs(self) -> frozenset[str]:
        """Return the fields of `Signals` that the rules look at."""
        return frozenset(need for rule in self._rules.values() for need in rule.needs)

    def update(self, signals: Signals, phase: int) -> float:
        """Return the score of the next frame for `phase`, 0..1; 0 when every phase is done."""
        scores = {name: rule.update(signals) for name, rule in self._rules.items()}
        return scores[self._cues[phase]] if phase < len(self._cues) else 0.0
