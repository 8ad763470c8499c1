"""One skill of the arm for a policy: kitchens prepared for it, episodes of its motion, and both ways side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kc_vla.cli import main
from kc_vla.datasets.planned import PlannedEpisode, read_folder, read_planned
from kc_vla.learning.policy.material import find_material
from kc_vla.planning.skills import Call
from kc_vla.skills.skill_table import SkillWay
from kc_vla_sim.arguments import SKILLS
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.experts.tool import Tool
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.kitchen.handling.one_skill import one_skill_table
from kc_vla_sim.kitchen.handling.prepared import USUAL_THINGS, prepared_for
from kc_vla_sim.kitchen.handling.skill_policy import SkillPolicy
from kc_vla_sim.kitchen.handling.skill_trial import SkillVerdict
from kc_vla_sim.kitchen.layout import draw_layout

CLOSE = prepared_for("CloseObject")


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_a_drawer_that_is_to_be_closed_is_open_and_its_things_lie_in_it_as_before(seed: int) -> None:
    usual, prepared = draw_layout(seed), CLOSE(seed)
    before, after = usual["cabinet"], prepared["cabinet"]
    travel = after.furniture.piece("drawer_1").travel
    assert 0.35 * travel <= after.openings["drawer_1"] <= travel
    assert after.openings["drawer_2"] == 0.0
    for thing, was in zip(prepared.things, usual.things, strict=True):
        moved = np.array([thing.x - was.x, thing.y - was.y])
        further = after.openings.get(was.holder, 0.0) - before.openings.get(was.holder, 0.0)
        out = np.subtract(after.point(-1.0, 0.0), after.point(0.0, 0.0))
        assert np.allclose(moved, further * out)


def test_what_is_to_be_switched_is_the_other_way_round() -> None:
    assert not prepared_for("SwitchOn")(4)["stove"].on
    assert prepared_for("SwitchOff", "microwave")(4)["microwave"].on
    assert prepared_for("OpenObject", "cupboard")(4)["cupboard"].openings == {"cupboard": 0.0}
    assert set(SKILLS) == set(USUAL_THINGS)


@pytest.mark.parametrize(
    ("skill", "thing", "reason"),
    [
        ("PickupObject", "", "no kitchens can be prepared for PickupObject: choose one of OpenObject, CloseObject"),
        ("CloseObject", "fridge", "there is no furniture 'fridge' in a kitchen"),
        ("CloseObject", "stove", "'stove' has no drawer and no door"),
        ("SwitchOn", "drawer_1", "'drawer_1' has no switch"),
    ],
)
def test_a_kitchen_that_cannot_be_prepared_is_refused(skill: str, thing: str, reason: str) -> None:
    with pytest.raises(BadTaskError, match=reason):
        prepared_for(skill, thing)(0)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("skill")
    words = ["--skill", "CloseObject", "--camera", "wrist", "--split", "development", "--image-size", "32"]
    assert main(["collect", *words, "--episodes", "1", "--processes", "1", "--output", str(output)]) == 0
    return output / "development/CloseObject_drawer_1"


@pytest.fixture(scope="module")
def episode(collected: Path) -> PlannedEpisode:
    return read_planned(read_folder(collected).file(0))


@pytest.mark.nightly
def test_the_motion_is_shown_as_an_episode_that_a_policy_is_trained_on(
    collected: Path, episode: PlannedEpisode
) -> None:
    (source,) = find_material([collected.parent]).episodes
    assert source.instruction == "close the drawer"
    assert set(episode.pictures) == {"wrist"}
    stages = list(dict.fromkeys(episode.phases.tolist()))
    assert stages == ["approach", "reach", "push", "retreat", "look"]
    assert (episode.states[0, 2] - episode.states[:, 2]).max() > 0.1  # the hand goes down to the bar


@pytest.mark.nightly
def test_wherever_the_arm_was_pushed_the_plan_leads_back_to_the_way(episode: PlannedEpisode) -> None:
    """Executed as the arm does, the actions lead to the place that the motion goes to, as far as they reach it.

    From there they go on with the next way. It begins where the drawer stopped the arm, and that is up to 4 cm off.
    """
    near = [k for k, ahead in enumerate(episode.ahead.tolist()) if ahead < 8 and episode.phases[k] != "look"]
    assert near
    for k in near:
        tool = Tool.of(episode.states[k, :3], episode.states[k, 3:7])
        away = []
        for action in episode.plans[k, : int(episode.ahead[k]) + 3].astype(float):
            tool = tool.after(action[:6])
            away.append(np.linalg.norm(tool.position - episode.places[k, :3]))
        assert min(away) < 0.025


@pytest.mark.nightly
def test_a_policy_that_does_not_know_the_skill_says_so_and_the_arm_holds() -> None:
    arm = KitchenArm(1, 128, layout=CLOSE, ways={"CloseObject": SkillWay.POLICY}, policy=SkillPolicy())
    before = arm.frame.joint_positions
    outcome = arm.do(Call("CloseObject", ("drawer_1",)))
    assert not outcome.done
    assert "does not know what to do for 'close the drawer'" in outcome.reason
    assert np.allclose(arm.frame.joint_positions, before, atol=0.02)
    arm.close()


def test_both_ways_are_compared_by_the_truth() -> None:
    done = SkillVerdict(1, "CloseObject", ("drawer_1",), True, True, "", 6.0)
    missed = replace(done, seed=2, by="policy", said=False, true=False, reason="not seen to be done", seconds=30.0)
    shown = one_skill_table([done, replace(done, seed=2), replace(done, by="policy", disturbed=("mug_1",)), missed])
    assert "CloseObject(drawer_1) in 2 kitchens" in shown
    assert "| motion | 100.0 (34.2 to 100.0) | 2 of 2 | 0 | 0 | 6.0 |" in shown
    assert "| policy | 50.0 (9.5 to 90.5) | 1 of 2 | 0 | 1 | 18.0 |" in shown
    assert "| policy | 2 | no | not seen to be done |" in shown


def test_ways_without_a_skill_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["eval", "skills", "--by", "policy", "--output", str(tmp_path)]) == 1
    assert "--by and --thing go with --skill" in capsys.readouterr().err
