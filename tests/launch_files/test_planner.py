"""`planner:=` of the launch files with an arm: skills move it, in place of a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launch import LaunchContext
from launch_ros.parameter_descriptions import ParameterValue

from kc_vla.core.robot import load_robot

Nodes = dict[str, dict[str, Any]]


def told(value: Any, **arguments: str) -> Any:
    """Return what a parameter becomes in a launch with these arguments."""
    context = LaunchContext()
    context.launch_configurations.update(arguments)
    return value.evaluate(context) if isinstance(value, ParameterValue) else value


def test_a_planner_moves_the_simulated_arm_by_skills_and_uses_the_memory_nodes(
    read: Callable[..., Nodes],
) -> None:
    found = read("maniskill", task="kitchen", seed="3", planner="true")
    memories = {"long_term_memory", "short_term_memory"}
    assert {"skill_server", "planner", *memories} <= set(found)
    assert "policy_server" not in found
    assert found["maniskill_bridge"]["script"] is False
    assert found["skill_server"]["real"] is False
    planner = found["planner"]
    assert (planner["memory_nodes"], told(planner["memory"]), told(planner["frame"])) == (True, "both", "panda_link0")
    assert told(planner["map_id"]) == told(found["long_term_memory"]["map_id"]) == "kitchen-3"
    assert not any(found[each]["use_sim_time"] for each in ("planner", *memories))  # one clock stamps what they know


def test_a_planner_learns_which_types_a_learned_detector_can_report(read: Callable[..., Nodes]) -> None:
    types = told(read("maniskill", task="kitchen", planner="true", detector="learned")["planner"]["types"])
    assert {"orange", "salt_shaker"} <= set(types.split(","))


@pytest.mark.parametrize(
    ("arguments", "depth"),
    [
        ({"planner": "true", "detector": "learned"}, True),
        ({"planner": "true", "detector": "learned", "depth": "false"}, False),
        ({"planner": "true"}, False),
        ({"detector": "learned"}, False),
        ({"depth": "true"}, True),
    ],
)
def test_skills_that_depend_on_a_detector_have_cameras_with_depth(
    read: Callable[..., Nodes], arguments: dict[str, str], depth: bool
) -> None:
    assert read("maniskill", task="kitchen", **arguments)["maniskill_bridge"]["depth"] is depth


def test_a_planner_learns_which_types_are_named_to_another_detector(read: Callable[..., Nodes]) -> None:
    named = {"detector": "vision_msgs", "detector_options": "{only: [mug, wine glass]}"}
    assert told(read("piper", arm="emulated", planner="true", **named)["planner"]["types"]) == "mug,wine glass"


def test_a_detector_whose_model_is_not_there_is_refused(read: Callable[..., Nodes]) -> None:
    given = {"detector": "learned", "detector_options": "{model: of_nobody}"}
    with pytest.raises(Exception, match="of_nobody"):
        read("maniskill", task="kitchen", planner="true", **given)


def test_a_planner_can_do_without_memories(read: Callable[..., Nodes]) -> None:
    found = read("maniskill", task="kitchen", planner="true", memory="none")
    assert not {"long_term_memory", "short_term_memory"} & set(found)
    assert told(found["planner"]["memory"]) == "none"


def test_several_instructions_are_given_one_after_another(read: Callable[..., Nodes], tmp_path: Path) -> None:
    file = tmp_path / "today.txt"
    file.write_text("# before breakfast\nput the egg into the drawer\n\nput the milk onto the tray\n")
    found = read("maniskill", task="kitchen", planner="true", sequence=str(file))
    assert told(found["maniskill_bridge"]["instruction"]) == "put the egg into the drawer; put the milk onto the tray"
    assert told(found["episode_runner"]["sequence"], sequence=str(file)) == str(file)
    assert told(found["planner"]["instruction"]) == ""  # the node that runs the episode gives them


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"instruction": "pick up the egg"}, "instruction:= is for a planner: give planner:=true, too"),
        ({"planner": "true", "instruction": "pick up the egg", "episodes": "2"}, "in one episode"),
        ({"planner": "true", "instruction": "pick up the egg", "sequence": __file__}, "give one of them"),
    ],
)
def test_instructions_that_nobody_would_carry_out_are_refused(
    read: Callable[..., Nodes], arguments: dict[str, str], wrong: str
) -> None:
    with pytest.raises(Exception, match=wrong):
        read("maniskill", task="kitchen", **arguments)


def test_without_one_a_policy_moves_it(read: Callable[..., Nodes]) -> None:
    found = read("maniskill", task="kitchen", policy="expert")
    assert "policy_server" in found
    assert not {"skill_server", "planner"} & set(found)
    assert found["maniskill_bridge"]["script"] is True


def test_an_emulated_piper_is_moved_by_skills(read: Callable[..., Nodes]) -> None:
    found = read("piper", arm="emulated", planner="true", detector="vision_msgs", instruction="pick up the apple")
    assert found["skill_server"]["real"] is False
    assert "policy_server" not in found


def test_a_planner_needs_to_see(read: Callable[..., Nodes]) -> None:
    with pytest.raises(Exception, match="planner:=true needs to see things"):
        read("piper", arm="emulated", planner="true")


def test_an_arm_that_a_planner_moves_takes_no_trajectories(read: Callable[..., Nodes]) -> None:
    with pytest.raises(Exception, match="leave policy:=trajectory out, or the planner"):
        read("piper", arm="emulated", planner="true", detector="vision_msgs", policy="trajectory")


def test_an_arm_without_a_planner_takes_trajectories(read: Callable[..., Nodes]) -> None:
    found = read("piper", arm="emulated", policy="trajectory")
    assert told(found["policy_server"]["backend"], policy="trajectory") == "trajectory"


def test_a_real_arm_gets_no_power_before_a_camera_is_calibrated(read: Callable[..., Nodes], tmp_path: Path) -> None:
    cameras = tmp_path / "desk.yaml"
    given = {"arm": "piper", "can": "lo", "planner": "true", "detector": "vision_msgs", "cameras": str(cameras)}
    views = "third_person: {{topic: /one/image{}}}\nwrist: {{topic: /other/image}}\n"
    cameras.write_text(views.format(""))
    with pytest.raises(Exception, match="measure its place with 'kc-vla calibrate hand-eye', and name the file as"):
        read("piper", **given)
    cameras.write_text(views.format(", hand_eye: place.yaml"))
    assert read("piper", **given)["skill_server"]["real"] is True


def test_a_skill_by_a_policy_starts_its_server(read: Callable[..., Nodes], tmp_path: Path) -> None:
    panda = load_robot("panda_sim")
    assert panda.urdf is not None
    file = tmp_path / "panda.yaml"
    text = (panda.urdf.parents[1] / "panda_sim.yaml").read_text().replace("urdf/panda.urdf", str(panda.urdf))
    file.write_text(f"{text}skills: {{PickupObject: policy}}\n")
    found = read("maniskill", task="kitchen", planner="true", robot=str(file), policy="expert")
    assert {"skill_server", "policy_server"} <= set(found)


def test_a_robot_file_names_a_way_that_there_is(tmp_path: Path) -> None:
    panda = load_robot("panda_sim")
    assert panda.urdf is not None
    file = tmp_path / "panda.yaml"
    text = (panda.urdf.parents[1] / "panda_sim.yaml").read_text().replace("urdf/panda.urdf", str(panda.urdf))
    file.write_text(f"{text}skills: {{PickupObject: magic}}\n")
    with pytest.raises(Exception, match="PickupObject is done by 'magic': choose motion or policy"):
        load_robot(str(file))
