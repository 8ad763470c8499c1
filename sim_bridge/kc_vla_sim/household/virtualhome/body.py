"""A robot in a VirtualHome home: does the skills of the table by the actions of the package's simulator.

Of its two hands it uses one. Who goes to a thing stands before it and turns to it. A room is one area: within it the
robot goes to what it handles by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kc_vla.memory.things import ObservedThing
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import BY_NAME, Call
from kc_vla_sim.household.errors import told
from kc_vla_sim.household.skill_effects import WALK_M_S
from kc_vla_sim.household.virtualhome.goals import module
from kc_vla_sim.household.virtualhome.scene import VirtualHomeScene, area_of

_COOLS = frozenset({"freezer", "fridge"})
"""What things are put into; they are put onto all else, washing machines included, as in the human programs."""


class VirtualHome:
    """A robot in a VirtualHome home, as a `SkillRobot`.

    Attributes:
        scene: the true state, which no planner may read.
        grounds: where the robot can go.
    """

    def __init__(self, home: Mapping[str, Any]) -> None:
        """Build a home of VirtualHome.

        Args:
            home: nodes and edges, as the package writes them; it stays as it is.

        Raises:
            HouseholdError: the package is not installed.
        """
        home = copy.deepcopy(dict(home))
        graph = module("environment").EnvironmentGraph(home)
        self._simulator = module("motion_planner").MotionPlanner(graph, home)
        self.scene = VirtualHomeScene(home)
        self.grounds = self.scene.grounds()
        self._ids = {self.scene.name(each): each for each in self.scene.nodes}

    def copy(self) -> VirtualHome:
        """Return another home in the same state."""
        return VirtualHome(self.scene.state)

    def look(self) -> tuple[ObservedThing, ...]:
        """Return all things that the robot sees from where it stands."""
        return tuple(self.scene.seen())

    def do(self, call: Call) -> CallResult:
        """Do a skill by the actions of VirtualHome's simulator; a failed one changes nothing but the time."""
        skill = BY_NAME.get(call.skill)
        if skill is None or len(call.arguments) != len(skill.arguments):
            return CallResult(False, f"there is no skill {told(str(call))}", 0.0, 0.0)
        start = self.scene.at
        if skill.name in ("GoToPlace", "Explore"):
            reason = self._go(call.arguments[0])
        elif wrong := self._wrong(call.arguments):
            reason = wrong
        else:
            reason = _DOES[skill.name](self, *(self._ids[name] for name in call.arguments))
        walked_m = self.grounds.distance(start, self.scene.at)
        seconds = skill.seconds + walked_m / WALK_M_S
        return CallResult(not reason, reason, seconds, walked_m, () if reason else self.look())

    def _wrong(self, names: Sequence[str]) -> str:
        for name in names:
            if name not in self._ids or not self.scene.visible(self._ids[name]):
                return f"{told(name)} is not seen"
        return ""

    def _go(self, area: str) -> str:
        room = next((each for each in self.scene.rooms if area_of(each) == area), None)
        if room is None:
            return f"{told(area)} is no area"
        return "" if area == self.scene.at else self._walk(room)

    def _walk(self, node: int) -> str:
        reason = (self._act("STANDUP") if self.scene.sits else "") or self._act("WALK", node)
        if not reason and self.scene.held:  # until the next walk the simulator leaves it in the room before
            reason = self._act("WALK", node)
        return reason

    def _go_to(self, node: int) -> str:
        reason = "" if node in self.scene.held else self._walk(node)
        return reason or self._act("TURNTO", node)

    def _take(self, node: int) -> str:
        if node in self.scene.held:
            return f"{self.scene.name(node)} is in the hand"
        if self.scene.held:
            return f"the hand is full: it holds {self.scene.name(self.scene.held[0])}"
        return self._near(node, "GRAB", node)

    def _put(self, node: int, holder: int) -> str:
        if node not in self.scene.held:
            return f"{self.scene.name(node)} is not in the hand"
        action = "PUTIN" if self.scene.nodes[holder]["class_name"] in _COOLS else "PUTBACK"
        return self._near(holder, action, node, holder)

    def _near(self, node: int, action: str, *nodes: int) -> str:
        """Do an action; where it fails, once more after walking to a thing."""
        reason = self._act(action, *nodes)
        if reason and node not in self.scene.held:
            reason = self._walk(node) or self._act(action, *nodes)
        return reason

    def _act(self, action: str, *nodes: int) -> str:
        """Do one action of the simulator; return why it failed, in its words."""
        named = " ".join(f"<{self.scene.nodes[each]['class_name']}> ({each})" for each in nodes)
        done, about = self._simulator.my_execute_primitive_action_eval(f"[{action}] {named}")
        if done:
            self.scene = VirtualHomeScene(self._simulator.env_state.to_dict())
            return ""
        return about.get_error_string() or f"{action} failed, and the simulator does not say why"


def _simple(action: str) -> Callable[[VirtualHome, int], str]:
    return lambda home, node: home._near(node, action, node)


def _never(home: VirtualHome, *nodes: int) -> str:
    return "the simulator of VirtualHome has no such action"


_DOES: Mapping[str, Callable[..., str]] = {
    "GoToObject": VirtualHome._go_to,
    "PickupObject": VirtualHome._take,
    "PutObject": VirtualHome._put,
    "OpenObject": _simple("OPEN"),
    "CloseObject": _simple("CLOSE"),
    "SwitchOn": _simple("SWITCHON"),
    "SwitchOff": _simple("SWITCHOFF"),
    "SliceObject": _simple("CUT"),
    "ThrowObject": _simple("DROP"),
    "BreakObject": _never,
}
