"""The task table: what every part of the stack knows of a task, in one place.

The simulator, the selector and the policy look a task up here; none keeps names or phase counts of its own. Tasks that
only a data set knows come from a file of the same form: `kc_vla.core.task_file`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: how people and launch files call it.
        instruction: what the policy is told.
        keyframes: label of each keyframe, in order; the first is frame 0 (paper, appendix A).
        wordings: other instructions that mean it.
        cues: for each keyframe, the rule in `kc_vla.keyframes.rules` that finds it without a learned selector; empty
            where no rule does.
        environment: id of the ManiSkill environment; empty where it is not simulated, as are the following.
        stages: the steps that the completion rate counts, in order.
        choices: what there is to choose from at the task's moments of decision.
        decisions: how many such moments an episode has.
    """

    name: str
    instruction: str
    keyframes: tuple[str, ...]
    wordings: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    environment: str = ""
    stages: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    decisions: int = 0

    @property
    def instructions(self) -> tuple[str, ...]:
        """All instructions that are known to mean it."""
        return (self.instruction, *self.wordings)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            name="counting",
            environment="PushCubeWithSignal-v1",
            instruction="Wait for the signal light to flash twice, then push the cube to the target.",
            wordings=(
                "Push the cube to the goal after the lamp has blinked twice.",
                "Once the light has flashed two times, slide the block onto the target.",
            ),
            keyframes=("start", "flash 1 on", "flash 1 off", "flash 2 on", "flash 2 off"),
            cues=("first_frame", *("brightness_jump",) * 4),
            stages=("waited for the first flash", "waited for the second flash", "cube at the target"),
            choices=("wait", "push"),
            decisions=2,
        ),
        Task(
            name="identity",
            environment="TeacherArmShuffle-v1",
            instruction="After the cubes are swapped, pick up the cube that was originally in the middle.",
            wordings=(
                "When the shuffle is over, lift the cube which stood in the middle at the beginning.",
                "Pick up the block that was in the centre before they were swapped.",
                "Grasp the cube that stood in the middle before the shuffle.",
            ),
            keyframes=("start", "first cube put aside", "second cube grasped"),
            cues=(),
            stages=("waited for the shuffle", "original middle cube lifted"),
            choices=("left", "middle", "right"),
            decisions=1,
        ),
        Task(
            name="spatial",
            environment="SwapPosition-v1",
            instruction="Swap the position of the bottom and middle cubes.",
            wordings=(
                "Rebuild the stack with the bottom and the middle block exchanged.",
                "Swap the lower two cubes of the tower.",
                "Restack the tower so that the middle cube is below and the bottom cube in the middle.",
            ),
            keyframes=("start", "top cube off the stack", "middle cube off the stack", "bottom cube off its place"),
            cues=("first_frame", *("lift_off",) * 3),
            stages=("top cube put aside", "middle cube put aside", "bottom cube on the middle one", "top cube on both"),
            choices=("red", "green", "blue"),
            decisions=1,
        ),
        Task(
            name="temporal",
            environment="PickPlaceThreeTimes-v1",
            instruction=(
                "First, pick up the red cube and place it back on the table. "
                "Next, do the same for the green cube. Finally, the blue cube."
            ),
            wordings=(
                "Lift the red cube and put it back, then the green one, then the blue one.",
                "Pick and place red, green and blue, one after the other, each back on the table.",
            ),
            keyframes=("start", "red cube highest", "green cube highest", "blue cube highest"),
            cues=("first_frame", *("carried_peak",) * 3),
            stages=("red cube lifted and put back", "green cube lifted and put back", "blue cube lifted and put back"),
            choices=("red", "green", "blue"),
            decisions=3,
        ),
    )
}


class UnknownTaskError(ValueError):
    """A task name, or an instruction, that is not in the table."""


def find_task(name: str) -> Task:
    """Return the task called `name`, or raise `UnknownTaskError` naming those that exist."""
    try:
        return TASKS[name]
    except KeyError:
        raise UnknownTaskError(f"unknown task '{name}': choose one of {', '.join(sorted(TASKS))}") from None


def find_task_of_instruction(instruction: str, tasks: Iterable[Task] = TASKS.values()) -> Task:
    """Return the task of which this is an instruction, whatever its case, spaces and full stops; or `UnknownTaskError`.

    For data, where a guess would mislabel; what a person says is understood by `kc_vla.keyframes.instructions`.
    """
    wanted = plain(instruction)
    for task in tasks:
        if any(plain(known) == wanted for known in task.instructions):
            return task
    raise UnknownTaskError(f"no task has the instruction '{instruction}'")


def plain(instruction: str) -> str:
    """An instruction without what makes no difference to its meaning."""
    return " ".join(instruction.casefold().replace(".", " ").split())
