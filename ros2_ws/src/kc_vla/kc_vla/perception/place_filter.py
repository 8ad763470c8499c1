"""Where an object is by all looks at it: the mean while it stands still, the newest look where it moves."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.perception.front import PART
from kc_vla.perception.located_object import POSITION, LocatedObject

_MOST_LOOKS = 25
"""Looks that a mean position is worth at most: what creeps is followed."""
_LEAST_SIGMA_M = 0.002
_OFF_M, _OFF_SIGMAS = 0.012, 1.5
"""A position that is further off is an error, or the object has been moved."""
_SAME_SHARE = 0.6
"""So much nearer to the last look than to the mean a second look is that says the same."""
_SIZE_WEIGHT = 0.2
_SHARP_KEPT = 0.98
"""Share of the sharpness of the best look that is left after another one: `_MOST_LOOKS` is counted in such looks."""
_AS_SHARP = 0.25


class PlaceFilter:
    """Position and size of an object.

    Attributes:
        position: of its middle (3,), m.
        size: (3,), m; zeros where it is not known.
        way: how the position was found without depth, in words; empty where it was measured.
    """

    def __init__(self, seen: LocatedObject) -> None:
        """Begin where it was seen once."""
        self.position = np.array(seen.position, float)
        self.size = np.array(seen.size, float)
        self.way = seen.attributes.get(POSITION, "")
        self._information = self._sharpest = _information(seen)
        self._suspect: NDArray[np.float64] | None = None
        self._moving, self._looks = False, 1
        self._fixed = plain_type(seen.object_type) in IMMOVABLE - {PART}

    @property
    def sigma_m(self) -> float:
        """Return the standard deviation of the position, m."""
        return max(1.0 / math.sqrt(self._information), _LEAST_SIGMA_M)

    @property
    def suspect(self) -> NDArray[np.float64]:
        """Return where the last look found it (3,), m, if that was far off, and else its position."""
        return self.position if self._suspect is None else self._suspect

    def see(self, seen: LocatedObject) -> bool:
        """Take in another look.

        A single position that is far off is an error; a second one says that the object moves.

        Returns:
            Whether it has moved.
        """
        self._see_size(seen)
        place = np.array(seen.position, float)
        off_m = math.dist(seen.position, self.position.tolist())
        if off_m <= max(_OFF_M, _OFF_SIGMAS * seen.sigma_m):
            self._average(seen, place)
        elif self._may_move(seen) and (self._is_moving(seen) or self._is_confirmed(place, off_m)):
            self._jump(seen, place)
            return True
        else:
            self._suspect = place
        return False

    def _average(self, seen: LocatedObject, place: NDArray[np.float64]) -> None:
        self._suspect, self._moving = None, False
        weight = _information(seen)
        self._sharpest = max(weight, _SHARP_KEPT * self._sharpest)
        self._information = min(self._information, (_MOST_LOOKS - 1) * self._sharpest) + weight
        self.position = self.position + weight / self._information * (place - self.position)
        self._looks += 1
        self.way = self.way and seen.attributes.get(POSITION, "")

    def _jump(self, seen: LocatedObject, place: NDArray[np.float64]) -> None:
        self._suspect, self._moving, self._looks = None, True, 1
        self.position, self._information = place, _information(seen)
        self._sharpest = self._information
        self.way = seen.attributes.get(POSITION, "")

    def _may_move(self, seen: LocatedObject) -> bool:
        """Return whether a look can show that it has moved: furniture is not moved by looks that measure it badly.

        Half hidden by the arm, it is located where the arm is.
        """
        return not self._fixed or _information(seen) >= _AS_SHARP * self._sharpest

    def _is_moving(self, seen: LocatedObject) -> bool:
        """Return whether a look that is far off continues a movement, and is not just much less sharp than the last."""
        return self._moving and _information(seen) >= _AS_SHARP * self._sharpest

    def _is_confirmed(self, place: NDArray[np.float64], off_m: float) -> bool:
        return self._suspect is not None and float(np.linalg.norm(place - self._suspect)) < _SAME_SHARE * off_m

    def _see_size(self, seen: LocatedObject) -> None:
        if any(seen.size):
            weight = max(1.0 / (self._looks + 1), _SIZE_WEIGHT) * min(1.0, _information(seen) / self._sharpest)
            self.size = self.size + (weight if self.size.any() else 1.0) * (np.array(seen.size, float) - self.size)


def _information(seen: LocatedObject) -> float:
    return 1.0 / max(seen.sigma_m, _LEAST_SIGMA_M) ** 2
