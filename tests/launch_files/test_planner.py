"""`planner:=` of the launch files with an arm: skills move it, in place of a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kc_vla.core.robot import load_robot

Nodes = dict[str, dict[str, Any]]


def test_a_planner_has_the_simulated_arm_moved_by_skills(read: Callable[..., Nodes]) -> None:
    found = read("maniskill", task="kitchen", planner="true", memory="both")
    assert {"skill_server", "planner"} <= set(found)
    assert not {"policy_server", "long_term_memory", "short_term_memory"} & set(found)
    assert found["maniskill_bridge"]["script"] is False
    assert found["skill_server"]["real"] is False


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
