"""The closed-form posture against the simulated arm."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from kc_vla_sim.experts.tool import POINTING_DOWN
from kc_vla_sim.robots.panda_posture import posture_pointing_down
from kc_vla_sim.simulator import Simulator


@pytest.mark.parametrize(
    "tool", [(0.5, 0.1, 0.2, 0.0), (0.4, -0.3, 0.02, 0.5), (0.7, 0.0, 0.15, -0.4), (0.35, 0.1, 0.4, 0.2)]
)
def test_the_arm_stands_where_it_was_wanted(undrawn: Simulator, tool: tuple[float, float, float, float]) -> None:
    undrawn.reset("counting", 1)
    arm = posture_pointing_down(torch.tensor(tool)).tolist()
    for _ in range(60):
        frame = undrawn.step_joints([*arm, 0, 0])
    np.testing.assert_allclose(frame.tool_pose.position, tool[:3], atol=1e-3)
    wanted = Rotation.from_rotvec([0, 0, tool[3]]) * POINTING_DOWN
    assert (Rotation.from_quat(frame.tool_pose.quaternion) * wanted.inv()).magnitude() < 3e-3


def test_a_batch_is_as_its_members() -> None:
    tools = torch.rand(4, 5, 4) * torch.tensor([0.3, 0.4, 0.3, 1.0]) + torch.tensor([0.35, -0.2, 0.0, -0.5])
    together = posture_pointing_down(tools)
    assert together.shape == (4, 5, 7)
    torch.testing.assert_close(together[2, 3], posture_pointing_down(tools[2, 3]))


def test_what_is_out_of_reach_is_not_a_number() -> None:
    assert posture_pointing_down(torch.tensor([1.2, 0.0, 0.1, 0.0])).isnan().any()
