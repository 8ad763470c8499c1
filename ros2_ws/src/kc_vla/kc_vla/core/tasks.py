"""The task table: what every part of the stack knows of a task, in one place.

The simulator, the selector and the policy look a task up here; none keeps names or phase counts of its own. The tasks
of the file that the environment variable `KC_VLA_TASKS` names are in it too, in every process: `kc_vla.core.task_file`
says what it holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kc_vla.core.task import Task as Task
from kc_vla.core.task import plain as plain
from kc_vla.core.task_file import TaskFileError, read_tasks

OWN_TASKS = "KC_VLA_TASKS"
FIRST_TASKS = ("counting", "identity", "spatial", "temporal")
"""Those that there were before the table was open: what was trained or measured then counts by their places."""


_TOUR = ("drawer opened", "thing put into the drawer", "drawer closed", "door opened", "door closed", "thing moved")
"""What happens in the kitchen while the arm looks around."""
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            name="counting",
            environment="KcVlaPushCubeWithSignal-v1",
            expert="kc_vla_sim.experts.push_cube_with_signal:PushCubeExpert",
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
            environment="KcVlaTeacherArmShuffle-v1",
            expert="kc_vla_sim.experts.teacher_arm_shuffle:TeacherArmShuffleExpert",
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
            environment="KcVlaSwapPosition-v1",
            expert="kc_vla_sim.experts.swap_position:SwapPositionExpert",
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
            environment="KcVlaPickPlaceThreeTimes-v1",
            expert="kc_vla_sim.experts.pick_place_three_times:PickPlaceThreeTimesExpert",
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
        Task(
            name="kitchen",
            environment="KcVlaKitchen-v1",
            expert="kc_vla_sim.experts.kitchen_tour:KitchenTourExpert",
            instruction="Look around in the kitchen.",
            wordings=("Have a look at everything in the kitchen.",),
            keyframes=("start", *_TOUR),
            stages=("looked around", *_TOUR),
            tour=True,
        ),
    )
}


class UnknownTaskError(ValueError):
    """A task name, or an instruction, that is not in the table."""


class AmbiguousTaskError(UnknownTaskError):
    """An instruction that several tasks of the table have, where only the instruction is known."""


def add_tasks(path: Path) -> None:
    """Add the tasks of a file to the table.

    A task may have an instruction of one that is there, so that models of that one can be tried on it.

    Raises:
        TaskFileError: it cannot be read or is not as it should be, or the table has such a name already.
    """
    own = read_tasks(path)
    for name in own:
        if name in TASKS:
            raise TaskFileError(f"{path}: there is a task '{name}' already: choose another name")
    TASKS.update(own)


def simulated_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that have an environment and are there to be solved."""
    return tuple(name for name, task in TASKS.items() if task.environment and not task.tour)


def played_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that have an environment, those where the arm only looks around last."""
    tours = (name for name, task in TASKS.items() if task.environment and task.tour)
    return (*simulated_tasks(), *tours)


def find_task(name: str) -> Task:
    """Return the task called `name`, or raise `UnknownTaskError` naming those that exist."""
    try:
        return TASKS[name]
    except KeyError:
        raise UnknownTaskError(f"unknown task '{name}': choose one of {', '.join(sorted(TASKS))}") from None


def find_task_of_instruction(instruction: str, tasks: Iterable[Task] = TASKS.values()) -> Task:
    """Return the task of which this is an instruction, whatever its case, spaces and full stops.

    For data, where a guess would mislabel; what a person says is understood by `kc_vla.keyframes.instructions`.

    Raises:
        UnknownTaskError: there is none.
        AmbiguousTaskError: there are several.
    """
    found = list(_with_instruction(instruction, tasks))
    if not found:
        raise UnknownTaskError(f"no task has the instruction '{instruction}'")
    if len(found) > 1:
        told = " and ".join(f"'{task.name}'" for task in found)
        raise AmbiguousTaskError(f"'{instruction}' is the instruction of the tasks {told}")
    return found[0]


def meant_among(instruction: str, known: Sequence[str]) -> str | None:
    """Return which of the `known` instructions this one means: that of its task, or itself; None for none of them.

    Of several tasks with this instruction it is the first whose own is known: they ask for the same.
    """
    meant = (task.instruction for task in _with_instruction(instruction, TASKS.values()))
    return next((each for each in (*meant, instruction) if each in known), None)


def _with_instruction(instruction: str, tasks: Iterable[Task]) -> Iterator[Task]:
    wanted = plain(instruction)
    return (task for task in tasks if any(plain(known) == wanted for known in task.instructions))


if _file := os.environ.get(OWN_TASKS):
    try:
        add_tasks(Path(_file))
    except TaskFileError as error:
        raise SystemExit(f"{OWN_TASKS}: {error}") from error  # of whichever process: one line, no traceback
