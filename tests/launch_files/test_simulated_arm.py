"""`arm:=simulated` of piper.launch.py: a body in the simulator in place of recorded cameras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Read = Callable[..., dict[str, dict[str, Any]]]


def test_a_simulated_arm_brings_its_own_cameras_and_its_task(read: Read) -> None:
    nodes = read("piper", arm="simulated", task="temporal", seed="7")
    assert "camera" not in nodes
    assert "piper_emulator" not in nodes
    assert nodes["piper_simulator"]["seed"] == 7
    assert nodes["arm_controller"]["channel"] == nodes["piper_simulator"]["path"]
    assert nodes["arm_controller"]["bus"] == "kc_vla_socket"


def test_an_emulated_arm_has_no_body(read: Read) -> None:
    nodes = read("piper", arm="emulated")
    assert "piper_simulator" not in nodes
    assert {"piper_emulator", "camera"} <= nodes.keys()


def test_a_task_that_is_not_on_its_table_is_refused_with_those_that_are(read: Read) -> None:
    with pytest.raises(
        RuntimeError, match="task:=kitchen: with arm:=simulated there are counting, identity, spatial, temporal"
    ):
        read("piper", arm="simulated", task="kitchen")
