"""Actions that are called tool deltas and are none in m and rad: the poses beside them tell."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from odd_data_sets import write_odd_set
from scipy.spatial.transform import Rotation

from kc_vla.cli import main
from kc_vla.datasets.exchange.delta_units import METERS_AND_RADIANS, DeltaUnits, check_deltas
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.episodes.episode import RecordedEpisode

LENGTH = 40
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw", "gripper")
DELTA = "dx,dy,dz,rx,ry,rz,gripper"


def moved(seed: int, lag: int = 0, share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Deltas (T, 7) in m and rad and the poses (T, 7) of an arm that does a share of them, some steps later."""
    chance = np.random.default_rng(seed)
    target = np.repeat(chance.uniform(-1, 1, (LENGTH // 8, 6)), 8, axis=0) * ([0.01] * 3 + [0.03] * 3)
    done = share * np.vstack([np.zeros((lag, 6)), target])[:LENGTH]
    place, turn, poses = np.array([0.4, 0.0, 0.3]), Rotation.identity(), []
    for step in done:
        poses.append([*place, *turn.as_quat()])
        place, turn = place + step[:3], Rotation.from_rotvec(step[3:]) * turn
    return np.column_stack([target, chance.integers(0, 2, LENGTH)]).astype(float), np.array(poses)


def normalized(deltas: np.ndarray, units: tuple[float, float], gripper: tuple[float, float]) -> np.ndarray:
    closed, opened = gripper
    share = closed + deltas[:, 6:] * (opened - closed)
    return np.hstack([deltas[:, :3] / units[0], deltas[:, 3:6] / units[1], share])


@tried(40, 400)
@given(st.integers(0, 10_000), st.integers(0, 3), st.floats(0.4, 1.5))
def test_meters_and_radians_are_taken(seed: int, lag: int, share: float) -> None:
    """Also of an arm that follows late, and not all the way."""
    check_deltas("it", 20.0, [moved(seed, lag, share)], METERS_AND_RADIANS)


@tried(40, 400)
@given(
    st.integers(0, 10_000),
    st.integers(0, 2),
    st.sampled_from([(0.1, 0.1), (0.1, -0.1), (0.05, 0.5), (0.001, 1.0), (1.0, np.pi / 180), (1.0, -1.0), (0.01, 0.1)]),
)
def test_other_units_are_refused_with_those_that_the_poses_suggest(
    seed: int, lag: int, units: tuple[float, float]
) -> None:
    deltas, poses = moved(seed, lag)
    told = normalized(deltas, units, (0.0, 1.0))
    with pytest.raises(ExchangeError, match="no tool deltas in m and rad") as raised:
        check_deltas("it", 20.0, [(told, poses)], METERS_AND_RADIANS)
    position, rotation = str(raised.value).rpartition("about ")[2].partition(";")[0].split(",")
    assert float(position) == pytest.approx(units[0], rel=0.5)
    assert float(rotation) == pytest.approx(units[1], rel=0.5)


def test_without_poses_a_speed_that_no_arm_has_is_refused() -> None:
    deltas, _ = moved(3)
    check_deltas("it", 20.0, [(deltas, None)], METERS_AND_RADIANS)
    with pytest.raises(ExchangeError, match=r"a position of .* m in one frame is .* m/s"):
        check_deltas("it", 20.0, [(normalized(deltas, (0.01, 1.0), (0.0, 1.0)), None)], METERS_AND_RADIANS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of normalized actions: 0.1 m, -0.1 rad, gripper -1 closed to 1 open."""
    deltas, poses = moved(7)
    columns = {
        "observation.state": [[*pose, 0.0] for pose in poses.tolist()],
        "action": normalized(deltas, (0.1, -0.1), (-1.0, 1.0)).tolist(),
    }
    return write_odd_set(tmp_path / "set", lengths=(LENGTH,), columns=columns, names=POSE, action_names=("action",))


def test_normalized_actions_are_refused_and_rescaled_when_told(folder: Path, tmp_path: Path, capsys: Any) -> None:
    words = ["bag", "import", str(folder), f"--output={tmp_path}/out", f"--action={DELTA}"]
    assert main(words) == 1
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert "give --delta-units M,RAD, what a 1 means, about 0.1,-0.1" in told
    assert main([*words, "--delta-units=0.1,-0.1"]) == 1
    assert "goes from -1 to 1, 0 closed to 1 open is wanted: give --gripper=CLOSED,OPEN" in capsys.readouterr().err
    assert not list((tmp_path / "out").glob("*"))
    assert main([*words, "--delta-units=0.1,-0.1", "--gripper=-1,1"]) == 0
    commands = RecordedEpisode(tmp_path / "out/set-000000/bag").commands
    np.testing.assert_allclose([each.values for each in commands], moved(7)[0], atol=1e-6)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--delta-units=0.1"], "--delta-units 0.1: two numbers are wanted"),
        (["--delta-units=0,1"], "--delta-units 0,1: a unit of 0 moves nothing"),
        (["--delta-units=nan,1"], "--delta-units nan,1: two finite numbers are wanted"),
        (["--gripper=1,1"], "--gripper 1,1: closed and open must be two numbers"),
        (["--gripper=open,closed"], "--gripper open,closed: two numbers are wanted"),
    ],
)
def test_units_that_can_be_none_are_told(
    folder: Path, tmp_path: Path, capsys: Any, words: list[str], told: str
) -> None:
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out", f"--action={DELTA}", *words]) == 1
    assert told in capsys.readouterr().err


@tried(20, 200)
@given(st.integers(0, 100), st.floats(0.01, 2.0), st.floats(-2.0, -0.01), st.floats(-5, 5), st.floats(0.1, 5))
def test_units_that_are_told_are_what_the_numbers_mean(
    seed: int, position: float, rotation: float, closed: float, way: float
) -> None:
    deltas, _ = moved(seed)
    told = normalized(deltas, (position, rotation), (closed, closed + way))
    units = DeltaUnits(position, rotation, closed, closed + way)
    np.testing.assert_allclose(units.converted(told), deltas, atol=1e-9)
