"""The folder of a policy's training: what it notes of itself, and the networks in its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kc_vla.core.chunk import ActionType
from kc_vla.keyframes.cameras import Camera, parse_cameras
from kc_vla.learning.common.run import Run
from kc_vla.learning.common.weights import first_trunk
from kc_vla.learning.policy.config import PolicyConfig, as_dict, policy_config_from
from kc_vla.learning.policy.networks import Policy, Sizes, Stem
from kc_vla.policy.numbers import ActionScale

CHECKPOINT, STEM = "policy", "stem"
HOW = "let kc-vla train policy come to its first checkpoint"
SCALE = ("mean", "spread", "lowest", "highest")


class PolicyRun(Run):
    """A run with what a policy's training notes of itself."""

    made_by = "kc-vla train policy"
    defaults = as_dict(PolicyConfig())

    @property
    def config(self) -> PolicyConfig:
        """Settings of the run; RunError where the folder holds none."""
        return policy_config_from(self.settings)

    @property
    def instructions(self) -> tuple[str, ...]:
        """What it knows to do, in the order of the embeddings."""
        return tuple(self.data["instructions"])

    @property
    def robot(self) -> str:
        """The rig that it moves."""
        return str(self.data["robot"])

    @property
    def action(self) -> ActionType:
        """What that is told."""
        return ActionType[str(self.data.get("action", "tool_delta")).upper()]

    @property
    def views(self) -> tuple[str, ...]:
        """The cameras that it looks at."""
        return tuple(self.data["views"])

    @property
    def cameras(self) -> tuple[Camera, ...]:
        """Those that somebody chose of the data; none: all that they have."""
        return parse_cameras(said) if (said := self.data.get("cameras")) else ()

    @property
    def maps(self) -> Path:
        """Folder for the maps of its pictures: that of the run whose stem it has, however many went on from there."""
        before = str(self.data.get("init", "") or self.data.get("stem", ""))
        is_there = before != "" and (Path(before) / "run.json").exists()
        return PolicyRun(Path(before)).maps if is_there else self.folder / "maps"


def trained_policy(run: PolicyRun) -> tuple[Stem, Policy, ActionScale]:
    """Stem, averaged network and action scale of a run; RunError where there is no checkpoint yet."""
    state = run.need(CHECKPOINT, HOW)
    policy = Policy(Sizes(**state["sizes"]))
    policy.load_state_dict(state["average"])
    stem = Stem(first_trunk("scratch", []), run.config.channels)
    stem.load_state_dict(run.need(STEM, HOW)["stem"])
    return stem.eval(), policy.eval(), scale_of(state)


def scale_of(state: Mapping[str, Any]) -> ActionScale:
    """That of a checkpoint."""
    return ActionScale(*(tuple(state["scale"][part]) for part in SCALE))
