"""A kitchen without physics for tests of skills: an arm that follows at once, things, and a drawer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import load_robot
from kc_vla.perception.front_record import front_attributes
from kc_vla.planning.skills import Call
from kc_vla.skills.context import SkillContext
from kc_vla.skills.interface import ArmReading
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.skill_run import SkillOutcome
from kc_vla.skills.station import SkillStation
from kc_vla.skills.tool_path import StraightPathMaker

READY = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
ROBOT = load_robot("panda_sim")
RATE = 20.0
LOOK_EVERY = 5
_NEAR = 0.03
STOP = 0.14
"""The drawer opens so far, m."""


def thing(
    name: str, place: tuple[float, float, float], size: tuple[float, float, float], **more: object
) -> PerceivedThing:
    """Return a thing as a detector reports it; its type is its id without the number."""
    kind = name.rpartition("_")[0]
    return PerceivedThing(name, kind, np.array(place), Rotation.identity(), np.array(size), **more)  # type: ignore[arg-type]


@dataclass
class FakeKitchen:
    """An apple, and a drawer ahead of the arm.

    Attributes:
        things: as they are, by id.
        opening: of the drawer, m.
        blind: nothing is reported any more.
        hidden: ids of what is not reported.
        stuck: the arm stays where it is.
        each_step: called before each control step.
    """

    things: dict[str, PerceivedThing] = field(default_factory=dict)
    opening: float = 0.0
    blind: bool = False
    hidden: frozenset[str] = frozenset()
    stuck: bool = False
    each_step: Callable[[FakeKitchen], None] | None = None

    def __post_init__(self) -> None:
        """Place the arm and what it works with."""
        self.things.setdefault("apple_1", thing("apple_1", (0.42, 0.2, 0.038), (0.07, 0.07, 0.076)))
        self.things.setdefault("cabinet_1", thing("cabinet_1", (0.605, 0.0, 0.115), (0.21, 0.28, 0.23)))
        self.joints, self.width, self.index = READY.copy(), 0.0, 0
        self.in_hand = ""
        self._offset = np.zeros(3)
        self.sent: list[np.ndarray] = []
        self.kinematics = Kinematics(ROBOT.links_of(""))
        self.restart()
        self.report()

    def restart(self) -> None:
        """Let the skill server begin anew: it knows nothing of what was before."""
        paths = StraightPathMaker(self.kinematics, ROBOT.limits, READY, RATE)
        self.scene = PerceivedScene()
        context = SkillContext(ArmReading(0, READY.copy(), 0.0), self.scene, paths, ROBOT.opening, RATE)
        self.station = SkillStation(context)

    @property
    def tool(self) -> np.ndarray:
        """Return where the tool is (3,), m."""
        return np.asarray(self.kinematics.flange(self.joints)[:3, 3])

    @property
    def handle(self) -> np.ndarray:
        """Return where the bar of the drawer is (3,), m."""
        return np.array([0.441 - self.opening, 0.0, 0.216])

    def reading(self) -> ArmReading:
        """Return the state of the arm."""
        return ArmReading(self.index, self.joints.copy(), self.width)

    def report(self) -> None:
        """Let perception report everything that is not shut in."""
        stamp_s = self.index / RATE
        self.scene.take([replace(each, seen_s=stamp_s) for each in self.shown()], stamp_s)

    def shown(self) -> list[PerceivedThing]:
        """Return what a detector reports now."""
        return [each for each in self._in_view() if each.object_id not in self.hidden]

    def _in_view(self) -> list[PerceivedThing]:
        state = "opened" if self.opening > 0.014 else "closed"
        drawer = thing(
            "drawer_1",
            (0.588 - self.opening, 0.0, 0.171),
            (0.204, 0.278, 0.109),
            state=state,
            attributes={"place": "in cabinet_1"} | front_attributes(self.handle, None, self.opening),
        )
        return [drawer, *(each for each in self.things.values() if state == "opened" or not self._inside(each))]

    def do(self, skill: str, *arguments: str, most: int = 3000) -> SkillOutcome:
        """Do a skill to its end."""
        run = self.station.begin(Call(skill, arguments))
        while run.outcome is None and self.index < most:
            self.step()
        assert run.outcome is not None
        return run.outcome

    def step(self) -> None:
        """Take one control step of what the station sends."""
        if self.each_step is not None:
            self.each_step(self)
        joints, widths = self.station.advance(self.reading(), 4)
        self.follow(joints[0], float(widths[0]))

    def follow(self, joints: np.ndarray, width: float) -> None:
        """Take one control step towards angles (N,), rad, and a width between the fingers, m."""
        self.sent.append(joints)
        before, at = self.tool, self.joints
        if not self.stuck:
            self.joints = joints.copy()
            if self._at_stop(before):
                self.joints = at
        self._grip(width)
        self._drag(before)
        self.index += 1
        if self.index % LOOK_EVERY == 0 and not self.blind:
            self.report()

    def move(self, name: str, place: tuple[float, float, float]) -> None:
        """Have a person move a thing, also out of the hand, to a place, m."""
        self.in_hand = "" if name == self.in_hand else self.in_hand
        self.things[name] = replace(self.things[name], position=np.array(place), attributes={})

    def _grip(self, width: float) -> None:
        held = self.things.get(self.in_hand)
        if held is not None:
            if width > held.size[1] + 0.004:
                self._fall(held)
            else:
                self.things[self.in_hand] = replace(held, position=self.tool + self._offset, attributes={})
                self.width = float(held.size[1])
                return
        near = [each for each in self.things.values() if np.linalg.norm(each.position - self.tool) < _NEAR]
        graspable = next((each for each in near if width < each.size[1] <= self.width + 1e-9), None)
        if graspable is not None:
            self.in_hand, self._offset = graspable.object_id, graspable.position - self.tool
            self.width = float(graspable.size[1])
        else:
            self.width = width

    def _fall(self, held: PerceivedThing) -> None:
        self.in_hand = ""
        x, y, _ = held.position.tolist()
        inside = abs(x - (0.588 - self.opening)) < 0.1 and abs(y) < 0.13 and x < 0.5
        ground = 0.127 if inside else 0.0
        place = {"place": "in drawer_1"} if inside else {}
        self.things[held.object_id] = replace(
            held, position=np.array([x, y, ground + held.size[2] / 2]), attributes=place
        )

    def _at_stop(self, before: np.ndarray) -> bool:
        """Return whether the hand pulls a drawer on that is open as far as it goes, or pushes one on that is shut."""
        if abs(self.tool[2] - before[2]) > 1e-3 or np.linalg.norm(before - self.handle) > _NEAR:
            return False
        behind, inwards = bool(before[0] > self.handle[0]), bool(self.tool[0] > before[0])
        return (self.opening >= STOP and behind and not inwards) or (self.opening <= 0.0 and not behind and inwards)

    def _drag(self, before: np.ndarray) -> None:
        """Let the drawer follow a hand at its bar."""
        if np.linalg.norm(before - self.handle) > _NEAR:
            return
        moved, behind = float(before[0] - self.tool[0]), bool(before[0] > self.handle[0])
        if (moved > 0) != behind:  # a finger pulls from behind the bar, and pushes from before it
            return
        opening = float(np.clip(self.opening + moved, 0.0, STOP))
        for each in list(self.things.values()):
            if self._inside(each):
                self.things[each.object_id] = replace(
                    each, position=each.position - np.array([opening - self.opening, 0.0, 0.0])
                )
        self.opening = opening

    def _inside(self, each: PerceivedThing) -> bool:
        return each.attributes.get("place") == "in drawer_1"
