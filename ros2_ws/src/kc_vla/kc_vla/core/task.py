"""The description of a task."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A task, as an entry of the task table.

    Attributes:
        name: name of the task for people and launch files.
        instruction: instruction for the policy.
        keyframes: label of each keyframe, in order; the first is frame 0 (paper, appendix A).
        wordings: other instructions for the same task.
        cues: for each keyframe the rule of `kc_vla.keyframes.rules` that finds it without a learned selector; empty if
            there are no rules for the task.
        environment: id of the ManiSkill environment, or `module:id` if importing the module registers it. It and all
            following fields are empty for a task without a simulation.
        expert: the expert, `module:class`, which implements `kc_vla_sim.protocol.Expert`.
        stages: the steps that the completion rate counts, in order.
        choices: the choices at the task's moments of decision.
        decisions: number of such moments in an episode.
        tour: whether the arm only looks around, to fill memories from cameras. "all" does not include
            such a task, so nothing is trained or measured on it by default.
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
        """Raise `ValueError` if the fields do not fit together."""
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
    """Return an instruction in lower case and without full stops and extra spaces, for comparisons."""
    return " ".join(instruction.casefold().replace(".", " ").split())
