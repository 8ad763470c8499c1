"""What the live map shows now: a node sets it, the threads of a server ask for it."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import Any

import networkx as nx

from kc_vla.core.untrusted import parsed_json
from kc_vla_sim.household.errors import HouseholdError, told

_MOST_STEPS, _MOST_LETTERS = 400, 4_000_000
_MOST_STOPS = 5000
TRUTH, BELIEF, CROPS = "truth", "belief", "crops"


class HomeBoard:
    """The content of the live map, safe for any threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: dict[str, tuple[int, Any]] = {TRUTH: (0, None), BELIEF: (0, None), CROPS: (0, None)}
        self._steps: deque[tuple[int, Any]] = deque(maxlen=_MOST_STEPS)
        self._way: deque[str] = deque(maxlen=_MOST_STOPS)
        self._last = 0

    def tell(self, what: str, text: str) -> None:
        """Set what is so now.

        Args:
            what: `TRUTH` or `BELIEF`.
            text: JSON, an object.

        Raises:
            HouseholdError: it is none.
        """
        value = _object(text)
        with self._lock:
            self._told[what] = self._told[what][0] + 1, value
            if what == TRUTH:
                self._walked(value)

    def show_crops(self, part: dict[str, Any]) -> None:
        """Set which crops there are now, as `crops_part` gives them."""
        with self._lock:
            self._told[CROPS] = self._told[CROPS][0] + 1, part

    def step(self, text: str) -> None:
        """Add what the robot said of a step.

        Args:
            text: JSON, an object.

        Raises:
            HouseholdError: it is none.
        """
        value = _object(text)
        with self._lock:
            self._last += 1
            self._steps.append((self._last, value))

    def shown(self, truth: int = 0, belief: int = 0, since: int = 0, crops: int = 0) -> dict[str, Any]:
        """Return what is new to a page, and the time now on the server's steady clock, s.

        Args:
            truth, belief, crops: numbers of the ones that it has, 0 for none.
            since: number of the last step that it has.
        """
        with self._lock:
            known = {TRUTH: truth, BELIEF: belief, CROPS: crops}
            new = {what: value for what, (number, value) in self._told.items() if number != known[what]}
            numbers = {what: number for what, (number, _) in self._told.items()}
            steps = [value for number, value in self._steps if number > since or since > self._last]
            told = {"numbers": numbers, **new, "steps": steps, "last": self._last, "way": list(self._way)}
            return {**told, "now": round(time.monotonic(), 2)}

    def _walked(self, truth: dict[str, Any]) -> None:
        """Add the way to where the robot is now, around what stands between."""
        at, areas = truth.get("robot"), truth.get("areas")
        if not isinstance(at, str) or not isinstance(areas, dict) or (self._way and self._way[-1] == at):
            return
        try:
            ground = nx.Graph()
            for name, area in areas.items():
                for other in area["adjacent"]:
                    ground.add_edge(name, other, far=math.dist(area["position"], areas[other]["position"]))
            self._way.extend(nx.shortest_path(ground, self._way[-1], at, "far")[1:] if self._way else [at])
        except (KeyError, TypeError, ValueError, nx.NetworkXException):  # it was carried there, or nobody says how
            self._way.append(at)


def _object(text: str) -> dict[str, Any]:
    if len(text) > _MOST_LETTERS:
        raise HouseholdError(f"{len(text)} letters at once are not shown: {_MOST_LETTERS} are the most")
    try:
        value = parsed_json(text)
    except ValueError as error:
        raise HouseholdError(f"the message is no JSON ({told(str(error))})") from error
    if not isinstance(value, dict):
        raise HouseholdError("the message is no JSON object")
    return value
