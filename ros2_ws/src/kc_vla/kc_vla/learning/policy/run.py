"""The folder of a policy's training: what it notes of itself, and the networks in its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kc_vla.core.chunk import ActionType
from kc_vla.keyframes.cameras import Camera, parse_cameras
from kc_vla.learning.common.run import TrainingRun
from kc_vla.learning.common.weights import first_trunk
from kc_vla.learning.policy.config import PolicyConfig, as_dict, policy_config_from
from kc_vla.learning.policy.image_backbone import ImageBackbone
from kc_vla.learning.policy.networks import Policy, Sizes
from kc_vla.policy.numbers import ActionScale

CHECKPOINT, STEM = "policy", "stem"
HOW = "let kc-vla train policy come to its first checkpoint"
SCALE = ("mean", "spread", "lowest", "highest")
_CONDENSE = "condense."
"""What the names of the weights begin with that make tokens of keyframes."""
_OF_INSTRUCTIONS = ("situation.instruction.weight", f"{_CONDENSE}ask.weight")
"""Weights with a row for each instruction."""


class PolicyRun(TrainingRun):
    """A run with what a policy's training notes of itself."""

    made_by = "kc-vla train policy"
    defaults = as_dict(PolicyConfig())
    trained = CHECKPOINT, HOW

    @property
    def config(self) -> PolicyConfig:
        """Return settings of the run; RunError where the folder holds none."""
        return policy_config_from(self.settings)

    @property
    def instructions(self) -> tuple[str, ...]:
        """Return what it was trained to do, in the order of the embeddings."""
        return tuple(self.data["instructions"])

    @property
    def robot(self) -> str:
        """Return the name of the robot that it moves."""
        return str(self.data["robot"])

    @property
    def action(self) -> ActionType:
        """Return the type of the robot's commands."""
        return ActionType[str(self.data.get("action", "tool_delta")).upper()]

    @property
    def views(self) -> tuple[str, ...]:
        """Return the cameras that it looks at."""
        return tuple(self.data["views"])

    @property
    def cameras(self) -> tuple[Camera, ...]:
        """Return the cameras that the user chose of the data; none if it has all."""
        return parse_cameras(said) if (said := self.data.get("cameras")) else ()

    @property
    def maps(self) -> Path:
        """Return where earlier versions kept the maps of its images: with the run that its backbone is from."""
        before = str(self.data.get("init", "") or self.data.get("stem", ""))
        is_there = before != "" and (Path(before) / "run.json").exists()
        return PolicyRun(Path(before)).maps if is_there else self.folder / "maps"


def trained_policy(run: PolicyRun) -> tuple[ImageBackbone, Policy, ActionScale]:
    """Return the backbone, averaged network and action scale of a run; RunError where there is no checkpoint yet."""
    state = run.need(CHECKPOINT, HOW)
    policy = Policy(Sizes(**state["sizes"]))
    policy.load_state_dict(state["average"])
    stem = ImageBackbone(first_trunk("scratch", []), run.config.channels, run.config.colors)
    stem.load_state_dict(run.need(STEM, HOW)["stem"])
    return stem.eval(), policy.eval(), scale_of(state)


def scale_of(state: Mapping[str, Any]) -> ActionScale:
    """Return the action scale of a checkpoint."""
    return ActionScale(*(tuple(state["scale"][part]) for part in SCALE))


def begun_with(own: Mapping[str, Tensor], learnt: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return fresh weights with all that was trained before in their place.

    What makes tokens of keyframes begins as if it were not there, so that it can be added; so can instructions.
    """
    found = {name: each for name, each in own.items() if name.startswith(_CONDENSE)}
    for name, each in learnt.items():
        if name in own and name.endswith(_OF_INSTRUCTIONS):
            found[name] = torch.cat([each, own[name][len(each) :].to(each)])
        elif name in own or not name.startswith(_CONDENSE):
            found[name] = each
    return found
