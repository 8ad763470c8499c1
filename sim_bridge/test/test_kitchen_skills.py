"""The planner's skills in the rendered kitchen, in one process: by what is perceived, judged by the truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kc_vla.cli import main
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.robot_memory import open_robot_memory
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.skills import Call
from kc_vla.skills.handles import handle_of
from kc_vla.skills.station import AREA, workplace_map
from kc_vla.skills.switches import switch_of
from kc_vla_sim.envs.kitchen_bodies import to_sapien
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.frame import GroundTruthObject, Pose
from kc_vla_sim.kitchen.handling.arm_perception import perceived_in
from kc_vla_sim.kitchen.handling.feasibility import can_be_gripped, has_room
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.kitchen.handling.perceived_names import perceived_name
from kc_vla_sim.kitchen.handling.skill_trial import SkillVerdict
from kc_vla_sim.kitchen.handling.verdict_table import table
from kc_vla_sim.simulator import Simulator


def verdict(skill: str, said: bool, true: bool, reason: str = "") -> SkillVerdict:
    return SkillVerdict(3, skill, ("mug_1",), said, true, reason, 7.0)


def test_the_table_counts_what_the_truth_says() -> None:
    shown = table(
        [
            verdict("PickupObject", True, True),
            verdict("PickupObject", True, False),
            verdict("PickupObject", False, False, "mug_1 is too wide"),
            replace(verdict("PickupObject", False, False, "mug_1 is too wide"), possible=False),
            verdict("OpenObject", True, True),
        ]
    )
    assert "5 skills in 1 kitchens" in shown
    assert "| PickupObject | 33.3 (6.1 to 79.2) | 3 | 1 | 1 | 7 |" in shown
    assert "| PickupObject | THING is too wide | 2 |" in shown


def test_without_its_script_nothing_happens_in_a_kitchen_and_handles_are_reported() -> None:
    simulator = Simulator(32, tour=False)
    frame = simulator.reset("kitchen", 0)
    things = {each.object_id: each for each in perceived_in(frame, 0.0)}
    drawer, door = handle_of(things["drawer_1"]), handle_of(things["cupboard"])
    assert (drawer.opening, door.opening) == (0.0, 0.0)
    assert drawer.hinge is None
    assert door.hinge is not None
    assert np.allclose(drawer.at(0.1) - drawer.position, (-0.1, 0.0, 0.0))
    opened = door.at(np.pi / 2)  # the bar of a door that is wide open is before its hinge
    assert opened[0] < door.position[0] - 0.1
    knob, keys = switch_of(things["stove"]), switch_of(things["microwave"])
    assert np.allclose(knob.normal, (0, 0, 1), atol=1e-3)
    assert np.allclose(keys.normal, (-1, 0, 0), atol=1e-3)
    simulator.draws = False
    before = {each.object_id: each.state for each in frame.detections}
    for _ in range(100):
        frame = simulator.hold()
    assert {each.object_id: each.state for each in frame.detections} == before
    lying = ROBOT_BASE * to_sapien((0.605, 0.321, 0.305), Rotation.from_euler("x", 90, degrees=True))
    stock = simulator.environment.kitchen  # type: ignore[attr-defined]
    stock.things["salt_shaker_1"].carry(lying)
    shaker = next(each for each in stock.objects() if each.object_id == "salt_shaker_1")
    assert shaker.attributes["place"] == "on cupboard"  # however high it would stand, it lies on top
    with pytest.raises(BadTaskError, match="has no tour that can be left out"):
        simulator.reset("counting", 0)
    simulator.close()


def test_with_a_detector_the_arm_knows_only_what_its_images_show() -> None:
    arm = KitchenArm(0, detector="learned")
    scene = arm.station.context.scene
    true = {each.object_id: each for each in arm.frame.detections}
    assert len(scene.all()) >= 6
    stove = next(each for each in scene.all() if each.object_type == "stove")
    assert stove.object_id not in true  # an id of the tracker
    assert 0.0 < np.linalg.norm(stove.position - true["stove"].pose.position) < 0.03
    assert "cup" not in {each.object_type for each in scene.all()}  # it stands in the sink, beside the view
    assert perceived_name(arm, "stove") == stove.object_id
    (cup,) = (each for each in true if true[each].object_type == "cup")
    assert perceived_name(arm, cup) == f"{cup} (not perceived)"
    assert perceived_name(arm, "fridge") == "fridge"
    arm.close()


def test_what_cannot_be_done_is_told_from_what_fails() -> None:
    def box(name: str, place: tuple[float, float, float], size: tuple[float, float, float], where: str = "") -> Any:
        pose = Pose(place, (0.0, 0.0, 0.0, 1.0))
        return GroundTruthObject(name, name, "", pose, size, {"place": where} if where else {})

    drawer = box("drawer_1", (0.47, 0.0, 0.17), (0.2, 0.28, 0.11), "in cabinet")
    cabinet = box("cabinet", (0.605, 0.0, 0.115), (0.21, 0.28, 0.23))
    apple = box("apple_1", (0.4, 0.3, 0.04), (0.07, 0.07, 0.08))
    loaf = box("loaf_1", (0.44, 0.0, 0.15), (0.09, 0.2, 0.04), "in drawer_1")
    assert has_room(apple, drawer, [cabinet, apple])
    assert not has_room(apple, drawer, [cabinet, loaf])
    assert can_be_gripped(apple)
    assert not can_be_gripped(box("pot_1", (0.4, 0.3, 0.06), (0.16, 0.16, 0.12)))


@pytest.mark.nightly
def test_a_finger_switches_the_stove_by_contact() -> None:
    arm = KitchenArm(0)

    def state() -> str:
        return next(each.state for each in arm.frame.detections if each.object_id == "stove")

    assert state() == "on"
    assert arm.do(Call("SwitchOff", ("stove",))).done
    assert state() == "off"
    arm.close()


@pytest.mark.nightly
def test_an_instruction_is_carried_out_by_the_arm(tmp_path: Path) -> None:
    arm = KitchenArm(0)
    grounds = workplace_map()
    with Store(tmp_path / "home.db") as store:
        memories = open_robot_memory("both", open_embedder(), grounds, LongTermMemory(store))
        loop = Loop(arm, GrammarPlanner(), memories, grounds, AREA, cancel=arm.cancel)
        result = loop.carry_out("put the salt shaker into the drawer")
    assert (result.success, result.reason) == (True, "")
    true = {each.object_id: each for each in arm.frame.detections}
    assert true["salt_shaker_1"].attributes["place"] == "in drawer_1"
    assert true["drawer_1"].state == "closed"
    arm.close()


@pytest.mark.nightly
def test_skills_are_measured_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "skills", "--kitchens", "1", "--output", str(tmp_path)]) == 0
    assert "| OpenObject |" in capsys.readouterr().out
    assert (tmp_path / "table.md").is_file()


@pytest.mark.nightly
def test_a_skill_is_of_what_a_name_means_for_any_detector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--skill", "SwitchOff", "--thing", "stove", "--detector", "learned", "--kitchens", "1"]
    assert main(["eval", "skills", *words, "--output", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "SwitchOff(stove) in 1 kitchens" in shown
    assert "has not been seen" not in shown
