"""How a bag is replayed, and the line that is told where it cannot be."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from episode_bag import TOPICS as RECORDED
from episode_bag import Script, info, messages, write_episode
from rclpy.serialization import serialize_message
from robot_bags import write_panda_bag

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.core.robot import load_robot
from kc_vla.core.share import share
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.replay.plan import main, new_folder, plan_replay

SCRIPT = Script(size=8, steps=20, oracle=(0, 5, 8, 11, 14))


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_episode(tmp_path_factory.mktemp("planned") / "bag", SCRIPT)


def changed(folder: Path, change) -> RecordedEpisode:
    """The episode with its messages changed, or left out where `change(topic, message)` is None."""
    writer = EpisodeBagWriter(folder, RECORDED, info(SCRIPT))
    for topic, message, time_ns in messages(SCRIPT):
        if (other := change(topic, message)) is not None:
            writer.write(topic, serialize_message(other), time_ns, time_ns)
    writer.close()
    return RecordedEpisode(folder)


def test_only_what_sensors_say_is_played(bag: Path) -> None:
    plan = plan_replay(RecordedEpisode(bag), "learned", "auto")
    assert plan.topics == ("/third_person/image_raw", "/wrist/image_raw", "/joint_states")
    assert (plan.policy, plan.params) == ("replay", "maniskill.yaml")
    assert plan.notes == ("the bag has no /tool_pose: no observation is whole, so no chunk can be answered",)


def test_compressed_pictures_are_as_good(tmp_path: Path) -> None:
    plan = plan_replay(RecordedEpisode(write_panda_bag(tmp_path, "e0")), "learned", "auto")
    assert plan.topics[:2] == ("/third_person/image_raw/compressed", "/wrist/image_raw/compressed")


def test_the_views_are_those_of_the_robot_that_was_recorded(tmp_path: Path) -> None:
    content = yaml.safe_load((share("robots") / "panda_sim.yaml").read_text())
    content["cameras"] = {view: f"{view}_lens" for view in ("front", "left", "hand")}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    mine = str(tmp_path / "mine.yaml")
    episode = RecordedEpisode(write_panda_bag(tmp_path, "e0", views=("front", "left", "hand")))
    plan = plan_replay(episode, "learned", "auto", mine)
    assert plan.topics[:3] == tuple(f"/{view}/image_raw/compressed" for view in ("front", "left", "hand"))
    assert plan.robot == mine
    told = "of a robot with the views front, left, hand, the robot 'panda_sim' has third_person, wrist: name the robot"
    with pytest.raises(BagReadError, match=told):
        plan_replay(episode, "learned", "auto")


def test_the_scores_of_an_oracle_are_played_for_one(bag: Path) -> None:
    assert plan_replay(RecordedEpisode(bag), "oracle", "auto").topics[-1] == "/keyframes/score"


def test_without_an_oracle_there_is_none(tmp_path: Path) -> None:
    def learned(topic, message):
        if topic == "/keyframes/score":
            message.source = "learned"
        return message

    episode = changed(tmp_path / "bag", learned)
    with pytest.raises(BagReadError, match=r"needs the scores of an oracle, those of .* are: learned"):
        plan_replay(episode, "oracle", "auto")


@pytest.mark.parametrize(("backend", "policy"), [("scripted", "scripted"), ("leader", "none")])
def test_joint_positions_come_from_who_can_be_asked_again(tmp_path: Path, backend: str, policy: str) -> None:
    def by_joints(topic, message):
        if topic == "/policy/chunk":
            message.names, message.action_type, message.backend = list(load_robot("piper").names), 0, backend
        return message

    plan = plan_replay(changed(tmp_path / "bag", by_joints), "learned", "auto")
    assert plan.policy == policy
    assert ("came from leader, which cannot be asked again" in plan.notes[-1]) == (policy == "none")


@pytest.mark.parametrize("by_hand", [1, 2])
def test_a_selector_can_know_the_tempo_of_what_moved_the_arm_when_it_was_recorded(tmp_path: Path, by_hand: int) -> None:
    """Also where the person who took over was asked more often than the policy: the bag has three chunks."""
    chunks = iter([*["joy"] * by_hand, *["learned"] * 1000])

    def mostly_learned(topic, message):
        if topic == "/policy/chunk":
            message.backend = next(chunks)
        return message

    plan = plan_replay(changed(tmp_path / "bag", mostly_learned), "learned", "auto")
    assert (plan.policy, plan.moved_by) == ("replay", "learned")


def test_a_robot_has_its_own_parameters(tmp_path: Path) -> None:
    episode = RecordedEpisode(write_episode(tmp_path / "bag", replace(SCRIPT, variant="")))
    assert plan_replay(episode, "rules", "auto").params == "piper.yaml"


def test_an_episode_that_was_cut_off_is_played_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / "bag", replace(SCRIPT, with_result=False))
    (file,) = folder.glob("*.mcap")
    whole = len(RecordedEpisode(folder).frames)
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * 0.7)])
    episode = RecordedEpisode(folder)
    notes = plan_replay(episode, "learned", "auto").notes
    assert 0 < len(episode.frames) <= whole
    assert any("ends before the result" in note for note in notes)
    assert any("bag_0.mcap" in note for note in notes)


def test_no_pictures_no_replay(tmp_path: Path) -> None:
    def blind(topic, message):
        return None if topic == "/third_person/image_raw" else message

    with pytest.raises(BagReadError, match="holds no images of the episode on /third_person/image_raw"):
        plan_replay(changed(tmp_path / "bag", blind), "learned", "auto")


def test_a_second_replay_leaves_the_first_alone(tmp_path: Path) -> None:
    folders = [new_folder(tmp_path / "runs", "counting-1") for _ in range(3)]
    assert [folder.name for folder in folders] == ["counting-1-replay", "counting-1-replay-2", "counting-1-replay-3"]


@pytest.mark.parametrize("name", ["", "..", "../above", "/tmp/elsewhere"])
def test_an_episode_cannot_name_a_folder_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(BagReadError, match="cannot name a folder"):
        new_folder(tmp_path, name)


def test_the_plan_is_printed_for_a_launch_file(bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(bag), "--selector", "rules", "--output", str(tmp_path)]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["episode_id"] == SCRIPT.episode_id
    assert Path(plan["folder"]) == tmp_path / f"{SCRIPT.episode_id}-replay"
    assert Path(plan["bag"]) == bag


@pytest.mark.parametrize(
    ("given", "words"),
    [("", "no bag was given"), ("/nowhere", "no bag at /nowhere"), ("{empty}", "in {empty}")],
)
def test_what_cannot_be_replayed_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, words: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main([given.format(empty=empty), "--output", str(tmp_path / "runs")]) == 1
    told = capsys.readouterr().err
    assert words.format(empty=empty) in told
    assert told.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_detector_gets_the_depth_and_the_recorded_detections_are_left_out(tmp_path: Path) -> None:
    episode = RecordedEpisode(write_panda_bag(tmp_path, "e0"))
    depth = {f"/{view}/depth/image": 3 for view in ("third_person", "wrist")}
    episode.message_counts |= {**depth, "/detections": 3, "/detections/truth": 3, "/yolo/boxes": 3}
    plain = plan_replay(episode, "learned", "auto").topics
    assert "/detections" in plain
    assert not depth.keys() & set(plain)
    learned = plan_replay(episode, "learned", "auto", detector="learned").topics
    assert depth.keys() <= set(learned)
    assert not {"/detections", "/detections/truth"} & set(learned)
    truth = plan_replay(episode, "learned", "auto", detector="truth").topics
    assert "/detections/truth" in truth
    assert not {"/detections", *depth} & set(truth)
    boxes = plan_replay(episode, "learned", "auto", detector="vision_msgs", detector_options="{boxes: [/yolo/boxes]}")
    assert {"/yolo/boxes", *depth} <= set(boxes.topics)


def test_a_bag_without_depth_or_truth_is_noted(bag: Path) -> None:
    without = plan_replay(RecordedEpisode(bag), "learned", "auto", detector="learned").notes
    assert any("places of objects are found without depth" in note for note in without)
    blind = plan_replay(RecordedEpisode(bag), "learned", "auto", detector="truth").notes
    assert "the bag has no /detections/truth: no object is detected" in blind


def test_a_detector_that_cannot_be_is_a_line(bag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(bag), "--detector=yolo"]) == 1
    assert "no object detector 'yolo'" in capsys.readouterr().err
