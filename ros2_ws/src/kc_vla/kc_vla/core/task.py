"""What is known of one task."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: how people and launch files call it.
        instruction: instruction of the policy.
        keyframes: label of each keyframe, in order; the first is frame 0 (paper, appendix A).
        wordings: other instructions that mean it.
        cues: for each keyframe, the rule in `kc_vla.keyframes.rules` that finds it without a learned selector; empty
            where no rule does.
        environment: id of the ManiSkill environment, `module:id` where importing the module registers it; empty where
            it is not simulated, as are the following.
        expert: what plays it, `module:class`; made with the environment, it does `kc_vla_sim.protocol.Expert`.
        stages: the steps that the completion rate counts, in order.
        choices: what there is to choose from at the task's moments of decision.
        decisions: how many such moments an episode has.
        tour: whether the arm only looks around, for memories that cameras fill: it is no task among "all", and nothing
            is trained or measured on it unless it is named.
    """

    name: str
    instruction: str
    keyframes: tuple[str, ...]
    wordings: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    environment: str = ""
    expert: str = ""
    stages: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    decisions: int = 0
    tour: bool = False

    def __post_init__(self) -> None:
        """Raise `ValueError` where the parts do not fit together."""
        if self.cues and len(self.cues) != len(self.keyframes):
            raise ValueError(f"{len(self.cues)} cues for {len(self.keyframes)} keyframes: one for each, or none")
        if self.environment and not self.expert:
            raise ValueError("an environment, but no expert that plays it")
        if self.decisions and len(self.choices) < 2:
            raise ValueError(f"moments of decision: {self.decisions}, but no two choices")

    @property
    def instructions(self) -> tuple[str, ...]:
        """Return all known instructions of the task."""
        return (self.instruction, *self.wordings)


def plain(instruction: str) -> str:
    """Return an instruction without what makes no difference to its meaning."""
    return " ".join(instruction.casefold().replace(".", " ").split())
