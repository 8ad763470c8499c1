"""A household in which a robot does skills and looks: the one way in for planners, nodes and tests."""

from __future__ import annotations

from kc_vla.memory.things import ObservedThing
from kc_vla.planning.interface import CallResult
from kc_vla.planning.obstacles import Obstacle
from kc_vla.planning.skills import BY_NAME, Call, Skill
from kc_vla_sim.household.detector import Detector, Noise
from kc_vla_sim.household.errors import told
from kc_vla_sim.household.needs import NEEDS, Given
from kc_vla_sim.household.skill_effects import DEEDS
from kc_vla_sim.household.workings import settle
from kc_vla_sim.household.world import World

_MOST_LETTERS = 200


class Household:
    """A world and a robot in it, whose detector may err.

    Attributes:
        world: the true state, which the robot must not look at.
    """

    def __init__(self, world: World, noise: Noise | None = None) -> None:
        self.world = world
        self._detector = Detector(noise)

    def look(self) -> tuple[ObservedThing, ...]:
        """Return what the camera sees now; it takes no time."""
        return tuple(self._detector.see(self.world))

    def do(self, call: Call) -> CallResult:
        """Do a skill. Whatever the call says, it fails with a reason or does what the table says."""
        time_s, walked_m = self.world.time_s, self.world.walked_m
        reason, obstacle = _tried(self.world, call)
        seconds, far = self.world.time_s - time_s, self.world.walked_m - walked_m
        return CallResult(not reason, reason, seconds, far, () if reason else self.look(), obstacle=obstacle)


def act(world: World, call: Call) -> str:
    """Do a skill in a world; return why it failed, an empty text where it succeeded."""
    return _tried(world, call)[0]


def _tried(world: World, call: Call) -> tuple[str, Obstacle | None]:
    """Do a skill in a world; return why it failed, an empty text where it succeeded, and what was in the way."""
    skill = BY_NAME.get(call.skill)
    if skill is None:
        return f"there is no skill {told(str(call.skill))}: there are {', '.join(BY_NAME)}", None
    wrong = _wrong_arguments(skill, call)
    if wrong:
        return wrong, None
    given = Given(world, tuple(call.arguments))
    world.wait(skill.seconds)
    for name in skill.needs:
        need = NEEDS[name]
        if not need.holds(given):
            obstacle = None if need.clearing is None else Obstacle(call.arguments[0], need.clearing)
            return need.reason.format(*map(_shown, call.arguments)), obstacle
    for name in skill.does:
        DEEDS[name](given)
    settle(world)
    return "", None


def _wrong_arguments(skill: Skill, call: Call) -> str:
    wanted = f"{skill.name} takes {len(skill.arguments)} names: {', '.join(skill.arguments)}"
    if len(call.arguments) != len(skill.arguments):
        return f"{wanted}; {len(call.arguments)} were given"
    if not all(isinstance(name, str) and 0 < len(name) <= _MOST_LETTERS for name in call.arguments):
        return f"{wanted}; each is a text of 1 to {_MOST_LETTERS} letters"
    return ""


def _shown(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else told(name)
