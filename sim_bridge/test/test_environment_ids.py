"""Our environments have ids of their own; the paper's names are ours as long as no other package registers them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import pytest
from nightly import at_night

from kc_vla.core.tasks import TASKS
from kc_vla_sim.simulator import Simulator

NAMES = ("PushCubeWithSignal-v1", "TeacherArmShuffle-v1", "SwapPosition-v1", "PickPlaceThreeTimes-v1")
THEIRS = "\n".join(
    [
        "from mani_skill.envs.tasks.tabletop.push_cube import PushCubeEnv",
        "from mani_skill.utils.registration import register_env",
        *(
            f"@register_env({name!r}, max_episode_steps=7)\nclass Theirs{k}(PushCubeEnv): ..."
            for k, name in enumerate(NAMES)
        ),
    ]
)
"""A package that brings environments of the same names."""


@pytest.mark.parametrize("imports", ["import theirs, kc_vla_sim.envs", *at_night("import kc_vla_sim.envs, theirs")])
def test_a_package_of_the_users_keeps_its_ids_in_either_order_and_nobody_warns(imports: str, tmp_path: Path) -> None:
    program = f"""
{imports}
import gymnasium
for name in {NAMES}:
    print(gymnasium.spec(name).max_episode_steps, gymnasium.spec("KcVla" + name).max_episode_steps > 7)
"""
    (tmp_path / "theirs.py").write_text(THEIRS)
    command = [sys.executable, "-W", "error::UserWarning", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["7 True"] * 4
    said = done.stdout + done.stderr
    assert "registered" not in said
    assert "already" not in said


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_before_lead_to_our_environments(name: str) -> None:
    old, new = gymnasium.spec(name), gymnasium.spec("KcVla" + name)
    assert old.max_episode_steps == new.max_episode_steps
    assert old.entry_point is new.entry_point
    assert old.id == name


@pytest.mark.parametrize("place", ["", "kc_vla_sim.envs:"])
def test_a_task_of_the_users_that_names_an_id_of_before_plays(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(TASKS["counting"], name="own", environment=place + "PushCubeWithSignal-v1")
    monkeypatch.setitem(TASKS, "own", own)
    simulator = Simulator(16, draw=False, variant="hard")
    assert simulator.reset("own", 3).keyframe == "start"
    assert simulator.step([0] * 7).index == 1
    simulator.close()
