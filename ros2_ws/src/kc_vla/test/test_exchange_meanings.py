"""Data sets that do not say what their numbers are, or are wrong about the time."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data_sets import write_data_set
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.cli import main
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.export import export_bags
from kc_vla.datasets.exchange.from_data_set import Wanted, import_data_set
from kc_vla.datasets.exchange.meanings import ANGLES, PLACE, QUATERNION, ROTATION_VECTOR, pose_of
from kc_vla.datasets.exchange.rows import TOOL_POSE, read_rows
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode

LENGTH = 24
TURN = (0.0, 0.6, 0.0, 0.8)
POSE = "x,y,z,qx,qy,qz,qw,gripper"
DELTA = "dx,dy,dz,rx,ry,rz,gripper"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set that names its state and its action "state" and "action", and nothing else."""
    folder = write_data_set(tmp_path_factory.mktemp("made") / "counting", (LENGTH,))
    path = folder / "data/chunk-000/episode_000000.parquet"
    rows = [[0.1, 0.2, 0.01 * k, *TURN, k / LENGTH] for k in range(LENGTH)]
    actions = [[0.01 * k + 0.1 * j for j in range(7)] for k in range(LENGTH)]
    kept = pq.read_table(path).select(["annotation.keyframe", "timestamp", "frame_index", "episode_index", "index"])
    table = kept.append_column("observation.state", pa.array(rows, pa.list_(pa.float32())))
    pq.write_table(table.append_column("action", pa.array(actions, pa.list_(pa.float32()))), path)
    info = json.loads((folder / "meta/info.json").read_text())
    for key, name in (("observation.state", "state"), ("action", "action")):
        info["features"][key]["names"] = [name]
    for key in ("observation.joint_positions", "observation.joint_velocities"):
        del info["features"][key]
    (folder / "meta/info.json").write_text(json.dumps(info | {"fps": 10}))
    (folder / "meta/modality.json").unlink(missing_ok=True)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """The data set, to change."""
    return Path(shutil.copytree(made, tmp_path / "counting"))


def imported(folder: Path, tmp_path: Path, *words: str) -> Path:
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out", *words]) == 0
    return tmp_path / "out/counting-000000/bag"


def columns(bag: Path) -> dict[str, np.ndarray]:
    return {column.key: values for column, values in read_rows(bag).columns.items()}


def test_a_state_without_names_is_a_pose_and_a_gripper_where_somebody_says_so(made: Path, tmp_path: Path) -> None:
    bag = imported(made, tmp_path, f"--state={POSE}", f"--action={DELTA}")
    pose = columns(bag)[TOOL_POSE.key]
    np.testing.assert_allclose(pose[:, 2], [0.01 * k for k in range(LENGTH)], atol=1e-6)
    np.testing.assert_allclose(pose[:, 3:], [TURN] * LENGTH, atol=1e-6)
    commands = RecordedEpisode(bag).commands
    assert {command.mode for command in commands} == {CommandMode.TOOL_DELTA}
    np.testing.assert_allclose(commands[5].values, [0.05 + 0.1 * j for j in range(7)], atol=1e-6)


def test_the_real_part_of_a_turn_may_come_first(made: Path, tmp_path: Path) -> None:
    pose = columns(imported(made, tmp_path, "--state=x,y,z,qw,qx,qy,qz,gripper"))[TOOL_POSE.key]
    np.testing.assert_allclose(pose[:, 3:], [(0.6, 0.0, 0.8, 0.0)] * LENGTH, atol=1e-6)


def test_the_authors_modality_tells_what_the_numbers_are(folder: Path, tmp_path: Path, capsys) -> None:
    parts = {
        "state": {"position": (0, 3), "rotation": (3, 7), "gripper": (7, 8)},
        "action": {"position": (0, 3), "rotation": (3, 6), "gripper": (6, 7)},
    }
    content = {
        part: {name: {"start": begin, "end": end} for name, (begin, end) in rows.items()}
        for part, rows in parts.items()
    }
    (folder / "meta/modality.json").write_text(json.dumps(content))
    bag = imported(folder, tmp_path)
    said = capsys.readouterr().out
    assert f"its state is taken as {POSE}, by meta/modality.json: --state says otherwise" in said
    assert f"its action is taken as {DELTA}, by meta/modality.json: --action says otherwise" in said
    np.testing.assert_allclose(columns(bag)[TOOL_POSE.key][:, 3:], [TURN] * LENGTH, atol=1e-6)
    assert {command.mode for command in RecordedEpisode(bag).commands} == {CommandMode.TOOL_DELTA}


def test_actions_that_nobody_explains_are_kept_and_exported_again(made: Path, tmp_path: Path, capsys) -> None:
    bag = imported(made, tmp_path, f"--state={POSE}")
    assert "its actions (7 numbers without names) are neither tool deltas nor positions" in capsys.readouterr().out
    assert RecordedEpisode(bag).commands == ()
    again = DataSet(export_bags([bag], tmp_path / "again").folder).columns(0)["action"]
    np.testing.assert_array_equal(again, DataSet(made).columns(0)["action"])


def test_a_wrong_rate_is_put_right(made: Path, tmp_path: Path) -> None:
    episode = RecordedEpisode(imported(made, tmp_path, f"--state={POSE}", "--rate=20"))
    stamps = [frame.stamp_ns for frame in episode.frames]
    assert set(np.diff(stamps)) == {50_000_000}
    assert episode.status.frame_period_s == 0.05
    assert DataSet(export_bags([episode.bag], tmp_path / "again").folder).fps == 20
    assert [frame.stamp_ns for frame in RecordedEpisode(imported(made, tmp_path / "as", f"--state={POSE}")).frames][
        :2
    ] == [10**9, 11 * 10**8]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--state=x,y,z"], "--state names 3 numbers, its state has 8"),
        (["--action=a,b"], "--action names 2 numbers, its action has 7"),
        (["--state=x,y,z,qx,qy,qz,qw,x"], "--state x,y,z,qx,qy,qz,qw,x: each number needs a name of its own"),
        (["--state=qx,qy,qz,qw,x,y,z,gripper"], "frame 0: qx, qy, qz, qw have length 0.22, a quaternion has 1"),
        (["--rate=0"], "--rate 0: frames a second, above 0 and at most 1000"),
        (["--rate=nan"], "--rate nan: frames a second"),
    ],
)
def test_what_does_not_fit_is_one_line(made: Path, tmp_path: Path, capsys, words: list[str], told: str) -> None:
    assert main(["bag", "import", str(made), f"--output={tmp_path}/out", *words]) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert told in said
    assert not list((tmp_path / "out").glob("*"))


def test_other_sources_have_times_of_their_own(tmp_path: Path, capsys) -> None:
    assert main(["bag", "import", f"--output={tmp_path}", "--third-person=a.mp4", "--rate=20"]) == 1
    assert "--rate is for LeRobot data sets" in capsys.readouterr().err


def test_names_that_are_given_go_before_those_of_the_data_set(made: Path, tmp_path: Path) -> None:
    joints = tuple(f"j{k}" for k in range(8))
    import_data_set(made, tmp_path, Wanted(state=joints))
    assert read_rows(tmp_path / "counting-000000/bag").episode.message_counts["/joint_states"] == LENGTH
    with pytest.raises(ExchangeError, match="is there already"):
        import_data_set(Path(shutil.copytree(made, tmp_path / "b/counting")), tmp_path)


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_turns_are_the_same_however_they_are_told(numbers: list[float]) -> None:
    """Angles about fixed axes are turns about one axis after the other."""

    def turned(names: tuple[str, ...], values: list[float]) -> np.ndarray:
        found = pose_of(np.array([[0, 0, 0, *values]], float), (*PLACE, *names), "it")
        assert found is not None
        return found[0][0, 3:]

    whole = turned(ANGLES, numbers)
    after = np.array([0.0, 0.0, 0.0, 1.0])
    for axis, angle in enumerate(numbers):
        vector = [0.0, 0.0, 0.0]
        vector[axis] = angle
        after = product(turned(ROTATION_VECTOR, vector), after)
    assert abs(float(whole @ after)) == pytest.approx(1.0)
    np.testing.assert_allclose(turned(QUATERNION, whole.tolist()), whole)


def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of quaternions x y z w: first `other`, then `one`."""
    a, b, p, q = one[:3], other[:3], one[3], other[3]
    return np.array([*(p * b + q * a + np.cross(a, b)), p * q - a @ b])


def test_joints_in_degrees_are_told_and_turned_where_somebody_says_so(folder: Path, tmp_path: Path, capsys) -> None:
    path = folder / "data/chunk-000/episode_000000.parquet"
    rows = [[float(k), -90.0, k / LENGTH] for k in range(LENGTH)]
    table = pq.read_table(path).drop(["observation.state", "action"])
    for key in ("observation.state", "action"):
        table = table.append_column(key, pa.array(rows, pa.list_(pa.float64())))
    pq.write_table(table, path)
    info = json.loads((folder / "meta/info.json").read_text())
    for key in ("observation.state", "action"):
        info["features"][key] |= {"shape": [3], "names": ["shoulder_pan.pos", "elbow_flex.pos", "gripper.pos"]}
    (folder / "meta/info.json").write_text(json.dumps(info))
    as_it_is = columns(imported(folder, tmp_path))
    told = capsys.readouterr().out
    assert told.count("go too far for that: import it with --degrees into another folder") == 1
    turned = columns(imported(folder, tmp_path / "turned", "--degrees"))
    assert "--degrees" not in capsys.readouterr().out
    for key in ("observation.state", "action"):
        np.testing.assert_allclose(turned[key][:, :2], np.radians(as_it_is[key][:, :2]), rtol=1e-5)
        np.testing.assert_allclose(turned[key][:, 2], as_it_is[key][:, 2], atol=1e-6)
