"""What can be set of the policy, as `--policy.<name>=...` on the command line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from lerobot.configs.policies import PreTrainedConfig
from lerobot.optim.optimizers import AdamWConfig

import kc_vla
from kc_vla.core.deprecation import deprecated

ROBOT = "panda_sim"
"""The robot where none is named."""


def shipped(folder: str) -> Path:
    """A folder that comes with the stack, wherever pip has put it; FileNotFoundError where it has not."""
    places = (Path(sys.prefix) / "share/kc_vla", Path(kc_vla.__path__[0]).parent)
    for place in places:
        if (place / folder).is_dir():
            return place / folder
    raise FileNotFoundError(f"kc_vla's {folder} are not in {places[0]}: install kc_vla with pip from a whole clone")


@PreTrainedConfig.register_subclass("kc_vla")
@dataclass
class KcVlaConfig(PreTrainedConfig):
    """The configuration of a policy of this stack in LeRobot.

    Attributes:
        models: folder with the registry of the policy; empty: the models that come with the stack.
        model: name of the policy there.
        selector_models: the same of the keyframe selector.
        selector: name of it there.
        robot: a name of robots/, or a YAML file.
        rig: former name of `robot`, read for one more version.
        threads: of the CPU for each network.
        execute_steps: control steps of a chunk before the next is computed.
        blend_steps: fade from chunk to chunk, control steps.
        window_frames: debounce window, frames, after which a keyframe is confirmed.
    """

    device: str | None = "cpu"
    models: str = ""
    model: str = "policy"
    selector_models: str = ""
    selector: str = "keyframe_selector"
    robot: str = ROBOT
    rig: str = ""
    threads: int = 1
    execute_steps: int = 5
    blend_steps: int = 3
    window_frames: int = 5

    def __post_init__(self) -> None:
        """Take the robot by its former name, if it is given. Raises: ValueError."""
        super().__post_init__()
        if self.rig:
            if self.robot not in (ROBOT, self.rig):
                raise ValueError("policy.robot and policy.rig are one: set policy.robot alone")
            deprecated("policy.rig is called policy.robot")
            self.robot, self.rig = self.rig, ""

    @property
    def observation_delta_indices(self) -> None:
        """One moment at a time: what it remembers, it keeps itself."""

    @property
    def action_delta_indices(self) -> None:
        """It does not learn here."""

    @property
    def reward_delta_indices(self) -> None:
        """It does not learn here."""

    def get_optimizer_preset(self) -> AdamWConfig:
        """LeRobot wants one; nothing is optimised."""
        return AdamWConfig()

    def get_scheduler_preset(self) -> None:
        """None."""

    def validate_features(self) -> None:
        """ValueError where images or the state are missing."""
        if not self.image_features or self.robot_state_feature is None:
            raise ValueError("the policy kc_vla needs images, and the robot's state as observation.state")
