"""A policy learns with the keyframes that events make, where nobody has marked any."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn_plans import write_episodes
from robot_bags import KEYFRAMES, write_piper_bag

from kc_vla.cli import main
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.event_keyframes import EventKeyframes
from kc_vla.learning.policy.material import Material, find_material
from kc_vla.learning.policy.run import PolicyRun
from kc_vla.policy.learned import find_policy

SMALL = ["image_size=32", "init=scratch", "channels=8", "steps=2", "every=2", "batch=8"]


@pytest.fixture(scope="module")
def events() -> EventKeyframes:
    return EventKeyframes()


def chosen(material: Material) -> list[list[int]]:
    return [source.read(32).keyframes.tolist() for source in material.episodes]


def test_of_episodes_with_plans_they_are_those_that_were_found_while_they_were_recorded(
    events: EventKeyframes, tmp_path: Path
) -> None:
    looked = write_episodes(tmp_path / "light", 2, events=(0, 8, 20))
    assert chosen(find_material([looked], events=events)) == [[0, 8, 20]] * 2
    assert chosen(find_material([looked])) == [[0]] * 2
    others = write_episodes(tmp_path / "others", 2)
    with pytest.raises(DataError, match="others was recorded: collect it again with --events, into another folder"):
        find_material([looked, others], events=events)
    write_episodes(tmp_path / "mixed", 1, events=(0, 8))
    (tmp_path / "mixed/episode_000001.npz").write_bytes((others / "episode_000001.npz").read_bytes())
    with pytest.raises(DataError, match="seed 1, has no events"):
        chosen(find_material([tmp_path / "mixed"], events=events))


def test_of_a_robots_recordings_nobody_has_to_mark_any(events: EventKeyframes, tmp_path: Path) -> None:
    for number in range(2):
        write_piper_bag(tmp_path / "bags", f"e{number}", 40)
    data = tmp_path / "data"
    assert main(["bag", "export", str(tmp_path / "bags"), "--output", str(data)]) == 0
    assert chosen(find_material([data])) == [list(KEYFRAMES)] * 2
    found = chosen(find_material([data], events=events))
    assert found != [list(KEYFRAMES)] * 2
    assert all(len(each) > 1 for each in found)  # the gripper of its arm closes once
    unmarked = tmp_path / "unmarked"
    words = ["bag", "export", str(tmp_path / "bags"), "--output", str(unmarked), "--keyframes", "none"]
    assert main(words) == 0
    with pytest.raises(DataSetError, match="has no keyframes"):
        find_material([unmarked])
    data = unmarked
    assert chosen(find_material([data], events=events)) == found

    run = tmp_path / "run"
    settings = [word for setting in (*SMALL, "keyframes=events") for word in ("--set", setting)]
    assert main(["train", "policy", "--data", str(data), "--output", str(run), *settings]) == 0
    assert PolicyRun(run).data["events"] == events.model
    models = tmp_path / "models"
    assert main(["export", "policy", str(run), "--models", str(models)]) == 0  # 8 bits: it reads them again
    assert find_policy(str(models), "policy").source == "events"


def test_whose_keyframes_are_learnt_with_is_one_of_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_episodes(tmp_path / "light", 2)
    words = ["train", "policy", "--data", str(data), "--output", str(tmp_path / "run"), "--set", "keyframes=mine"]
    assert main(words) == 1
    assert "marked, events" in capsys.readouterr().err
