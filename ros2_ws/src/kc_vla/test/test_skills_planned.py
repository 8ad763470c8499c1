"""A planner and an arm without physics: what falls out of the hand is picked up again, whenever it falls."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fake_kitchen import FakeKitchen, thing

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.robot.robot_memory import open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla.skills.station import AREA, workplace_map


class KitchenBody:
    """A `SkillRobot` in a kitchen without physics, where the apple falls once."""

    def __init__(self, skill: str, stage: str, unseen: bool) -> None:
        """Let the apple fall in a stage of a skill, and lie behind something for a while where it is `unseen`."""
        self.kitchen = FakeKitchen()
        self.kitchen.each_step = self._drop
        self._at: tuple[str, str] | None = (skill, stage)
        self._unseen, self._now = unseen, ""
        self.calls: list[str] = []

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        self._now = call.skill
        outcome = self.kitchen.do(call.skill, *call.arguments, most=20_000)
        self.calls.append(call.skill)
        if call.skill == "Explore":
            self.kitchen.things.setdefault("apple_1", _fallen())
            self.kitchen.report()
        return CallResult(outcome.done, outcome.reason, 1.0, 0.0, self.kitchen.station.seen(), None, outcome.obstacle)

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        return self.kitchen.station.seen()

    def _drop(self, kitchen: FakeKitchen) -> None:
        run = kitchen.station.run
        if run is not None and self._at == (self._now, run.stage) and kitchen.in_hand:
            self._fall()

    def _fall(self) -> None:
        kitchen, self._at = self.kitchen, None
        kitchen.in_hand = ""
        if self._unseen:
            del kitchen.things["apple_1"]
        else:
            kitchen.things["apple_1"] = _fallen()


def _fallen() -> object:
    return thing("apple_1", (0.45, -0.3, 0.038), (0.07, 0.07, 0.076))


@pytest.mark.parametrize(
    ("skill", "stage", "unseen"),
    [
        ("PutObject", "carry", False),
        ("PutObject", "carry", True),
        ("OpenObject", "carry", True),
        ("OpenObject", "lift", False),
        ("PickupObject", "look", True),
    ],
)
def test_what_falls_out_of_the_hand_is_picked_up_again(skill: str, stage: str, unseen: bool) -> None:
    body, grounds = KitchenBody(skill, stage, unseen), workplace_map()
    memories = open_robot_memory("none", shared_embedder(), grounds)
    loop = Loop(body, GrammarPlanner(), memories, grounds, AREA)
    if skill == "OpenObject":  # with something in the hand: otherwise the drawer is opened first
        assert loop.carry_out("pick up the apple").success
    result = loop.carry_out("put the apple into the drawer")
    assert (result.success, result.reason) == (True, "")
    assert body.kitchen.things["apple_1"].attributes == {"place": "in drawer_1"}
    assert body.calls.count("PickupObject") == (1 if stage == "lift" else 2)  # the skill itself takes it again
    assert body.calls[-1] == "CloseObject"
