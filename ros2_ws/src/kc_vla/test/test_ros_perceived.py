"""What a skill gets of perception: the same by way of a message as in one process."""

from __future__ import annotations

import numpy as np

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.perceiver import Perceived
from kc_vla.ros.perceived import things_from
from kc_vla.ros.perception_messages import perceived_message
from kc_vla.skills.perceived import things_of


def test_a_skill_gets_the_same_of_a_message_as_in_one_process() -> None:
    knife = LocatedObject(
        "knife",
        (0.4, -0.2, 0.01),
        (0.18, 0.02, 0.012),
        0.8,
        0.004,
        PixelBox(3.0, 4.0, 50.0, 60.0),
        "dirty",
        {"colour": "red", "place": "in drawer_1"},
        "knife_1",
    )
    message = perceived_message(Perceived([knife]), "base", 2_500_000_000, lambda each: b"")
    (heard,), wrong = things_from(message, "base", 2.5)
    (shared,) = things_of([knife], 2.5)
    assert not wrong
    for name in ("object_id", "object_type", "state", "attributes", "container", "seen_s"):
        assert getattr(heard, name) == getattr(shared, name)
    for name in ("position", "size", "extent", "yaw", "confidence"):
        assert np.allclose(getattr(heard, name), getattr(shared, name))
    assert np.allclose(heard.rotation.as_matrix(), shared.rotation.as_matrix())
