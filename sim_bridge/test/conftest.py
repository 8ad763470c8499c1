"""One simulator per test session for each use: making an environment takes seconds, a reset takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from home_robot import Open, robots
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla_sim.frame import CameraModel, Pose
from kc_vla_sim.simulator import Simulator


def pytest_configure(config: pytest.Config) -> None:
    """Silence what only ManiSkill can mend: it hands torch tensors to numpy once in every step."""
    config.addinivalue_line("filterwarnings", "ignore:__array_wrap__:DeprecationWarning:mani_skill")


@pytest.fixture(scope="session")
def undrawn() -> Iterator[Simulator]:
    """Yield a simulator without images, with short waits: several hundred steps a second."""
    simulator = Simulator(image_size=16, draw=False, variant="paper")
    yield simulator
    simulator.close()


@pytest.fixture(scope="session")
def drawn() -> Iterator[Simulator]:
    """Yield a simulator with small images and short waits."""
    simulator = Simulator(image_size=(96, 64), variant="paper")
    yield simulator
    simulator.close()


@pytest.fixture(scope="session")
def project() -> Callable[..., tuple[int, int]]:
    """Return a function that returns the column and row in which a camera sees a point."""

    def into(pose: Pose, point: ArrayLike) -> np.ndarray:
        return Rotation.from_quat(pose.quaternion).inv().apply(np.asarray(point) - pose.position)

    def column_and_row(camera: CameraModel, point: ArrayLike, parent: Pose | None = None) -> tuple[int, int]:
        """Return the column and row of `point`, which is in the base frame, m.

        `parent` is where the camera's parent frame is, if not there.
        """
        point = point if parent is None else into(parent, point)
        x, y, depth = np.array(camera.k) @ into(camera.pose, point)
        assert depth > 0, "the point is behind the camera"
        return int(x / depth), int(y / depth)

    return column_and_row


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[Open]:
    """Yield a function that opens a robot in a symbolic household."""
    with robots(tmp_path, shared_embedder()) as opened:
        yield opened
