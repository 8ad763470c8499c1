"""The policy as LeRobot asks it: an action for each observation. It runs in ONNX Runtime, and is trained elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from lerobot.policies.pretrained import PreTrainedPolicy
from lerobot.utils.constants import OBS_IMAGES, OBS_STATE
from torch import Tensor

from kc_vla.core.robot import load_robot
from kc_vla.execution.scheduler import SchedulerSettings
from kc_vla.policy.remembering import open_remembering
from lerobot_policy_kc_vla.configuration_kc_vla import KcVlaConfig, shipped

_LEARNT = "the policy kc_vla is trained with `kc-vla train policy`, and only runs here"


class KcVlaPolicy(PreTrainedPolicy):
    """Selects keyframes of what it is shown, remembers them, and acts on them."""

    config_class = KcVlaConfig
    name = "kc_vla"

    def __init__(self, config: KcVlaConfig, **_: Any) -> None:
        super().__init__(config)
        config.validate_features()
        robot = (
            config.robot
            if config.robot.endswith((".yaml", ".yml"))
            else str(shipped("robots") / f"{config.robot}.yaml")
        )
        self._mind = open_remembering(
            models=Path(config.models).expanduser() if config.models else shipped("models"),
            model=config.model,
            selectors=Path(config.selector_models).expanduser() if config.selector_models else shipped("models"),
            selector=config.selector,
            robot=load_robot(robot),
            threads=config.threads,
            window=config.window_frames,
            how=SchedulerSettings(config.execute_steps, config.blend_steps),
        )

    @property
    def keyframes(self) -> list[int]:
        """Frames of the episode that it remembers now."""
        return self._mind.keyframes

    def reset(self) -> None:
        """Forget: another episode begins."""
        self._mind.forget()

    @torch.no_grad()
    def select_action(self, batch: dict[str, Any], **_: Any) -> Tensor:
        """The action (1, A) for the next frame: of one robot, every frame, in order."""
        state = batch[OBS_STATE]
        if state.shape[0] != 1:
            raise ValueError(f"the policy kc_vla remembers for one robot at a time, not for {state.shape[0]}")
        views = {
            key.removeprefix(f"{OBS_IMAGES}."): _pixels(value[0])
            for key, value in batch.items()
            if key.startswith(f"{OBS_IMAGES}.")
        }
        task = batch.get("task", "")
        instruction = task if isinstance(task, str) else str(task[0])
        action = self._mind.act(views, state[0].cpu().numpy().astype(np.float64), instruction)
        return torch.from_numpy(np.array(action, np.float32))[None]

    def predict_action_chunk(self, batch: dict[str, Any], **_: Any) -> Tensor:
        """The next action as a chunk of one (1, 1, A): what follows depends on what is seen then."""
        return self.select_action(batch)[:, None]

    def forward(self, batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, Any] | None]:
        """It does not learn here."""
        raise NotImplementedError(_LEARNT)

    def get_optim_params(self) -> dict[str, Any]:
        """It does not learn here."""
        raise NotImplementedError(_LEARNT)


def _pixels(picture: Tensor) -> np.ndarray:
    """(3, H, W) from 0 to 1 as (H, W, 3) uint8."""
    return (picture * 255).round().clamp(0, 255).to(torch.uint8).permute(1, 2, 0).contiguous().cpu().numpy()
