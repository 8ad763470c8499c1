"""A round thing that rolled is as wide as before."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.skills.perceived import PerceivedThing


def seen(size: tuple[float, float, float], turn: tuple[float, float, float]) -> PerceivedThing:
    rotation = Rotation.from_euler("xyz", turn, degrees=True)
    return PerceivedThing("apple_1", "apple", np.array([0.4, 0.0, 0.04]), rotation, np.array(size))


def test_an_apple_that_rolled_is_as_wide_as_one_that_stands() -> None:
    apple = seen((0.076, 0.074, 0.082), (40.0, 35.0, 10.0))
    assert apple.has_rolled
    assert np.allclose(apple.footprint[0], 0.076)
    assert np.allclose(apple.extent, 0.076)
    assert not seen((0.076, 0.074, 0.082), (0.0, 0.0, 10.0)).has_rolled


def test_what_is_long_or_lies_on_a_side_has_not_rolled() -> None:
    assert not seen((0.08, 0.08, 0.2), (40.0, 35.0, 10.0)).has_rolled
    cube = seen((0.06, 0.06, 0.06), (90.0, 0.0, 0.0))
    assert not cube.has_rolled
    assert np.allclose(cube.extent, 0.06)
