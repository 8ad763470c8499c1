"""The planner and the skills of an arm in a graph with a robot: the arguments `planner:=`, `instruction:=`."""

from __future__ import annotations

from typing import Any

from launch import LaunchContext
from launch_ros.actions import Node

from kc_vla.core import topics
from kc_vla.core.robot import load_robot
from kc_vla.launching.arguments import Argument, chosen
from kc_vla.launching.detector import detected_types
from kc_vla.launching.endings import end_with
from kc_vla.launching.graph import AGAIN, AUTO_MEMORY, memory_nodes, node, text, texts
from kc_vla.launching.kinds import AnyText, ExistingPath, Switch, typed
from kc_vla.launching.policies import TRAJECTORY, policy_server
from kc_vla.planning.execution.robot_clock import DAY_CLOCK
from kc_vla.planning.instruction import given_instructions

_SKILL_S = 900.0
"""Wall time that a skill may take: a simulator on a busy machine is slower than the robot's time, s."""


def planner_argument() -> Argument:
    """Return the argument `planner:=`, of a graph with an arm."""
    return Argument(
        "planner",
        Switch(),
        default_value="false",
        description="true: a planner carries out instructions, and the node skill_server moves the arm in place of a "
        "policy",
    )


def instruction_argument() -> Argument:
    """Return the argument `instruction:=`, of a graph whose instructions are a planner's alone."""
    return Argument(
        "instruction",
        AnyText(),
        default_value="",
        description="with planner:=true: instruction to carry out, after which the launch ends; empty: wait for the "
        "action execute_instruction",
    )


def sequence_argument() -> Argument:
    """Return the argument `sequence:=`, of a graph whose instructions come one after another."""
    return Argument(
        "sequence",
        ExistingPath("file"),
        default_value="",
        description="with planner:=true: file with an instruction in each line; the planner carries them out one after "
        "another, and the memories keep their content",
    )


def instructions_of(context: LaunchContext) -> tuple[str, ...]:
    """Return what the planner is to do, by `instruction:=` or `sequence:=`; nothing without a planner.

    Raises:
        PlanningError: both are given, or the file cannot be used.
    """
    if not is_planned(context):
        return ()
    return given_instructions(chosen(context, "instruction"), context.launch_configurations.get("sequence", ""))


def is_planned(context: LaunchContext) -> bool:
    """Return whether a planner has the arm moved."""
    return bool(typed(chosen(context, "planner")))


def mover_of(context: LaunchContext) -> str:
    """Return the node that answers the arm's requests for chunks."""
    return "skill_server" if is_planned(context) else "policy_server"


def check_planner(context: LaunchContext) -> None:
    """Check that what is asked of a planner can be done.

    Raises:
        RuntimeError: an instruction is given and no planner, there is a planner that would see nothing, or others would
            send trajectories to the arm that it moves.
    """
    if not is_planned(context):
        return
    if chosen(context, "policy") == TRAJECTORY:
        raise RuntimeError("planner:=true moves the arm by itself: leave policy:=trajectory out, or the planner")
    if chosen(context, "detector") == "none":
        raise RuntimeError("planner:=true needs to see things: name what finds them with detector:=")


def memory_of(context: LaunchContext) -> str:
    """Return which memories there are, by `memory:=`."""
    asked = chosen(context, "memory")
    return asked if asked != AUTO_MEMORY else "both" if is_planned(context) else "none"


def remembering(context: LaunchContext, map_id: str = "") -> list[Node]:
    """Return the nodes that remember; those of a planner stamp what they take in by the time of day, as it does.

    Args:
        context: of the launch.
        map_id: of the long-term memory; empty: that of `map_id:=`.
    """
    clock = {"use_sim_time": False} if is_planned(context) else {}
    return memory_nodes(memory_of(context), map_id or chosen(context, "map_id"), **clock)


def planned_nodes(
    context: LaunchContext, real: bool = False, hand_eye: str = "", map_id: str = "", given_later: bool = False
) -> list[Node]:
    """Return the nodes `skill_server` and `planner`.

    Args:
        context: of the launch.
        real: a real arm moves.
        hand_eye: files with the cameras' places, separated as in a PATH.
        map_id: of the long-term memory; empty: that of `map_id:=`.
        given_later: another node gives the planner its instructions, and ends the launch after them.
    """
    skills = {"real": real, "hand_eye": text(hand_eye), **texts(robot="robot")}
    instruction = "" if given_later else chosen(context, "instruction").strip()
    given = {
        "planner": "grammar",
        "skill_timeout": _SKILL_S,
        "startup_timeout": 300.0,
        "memory": text(memory_of(context)),
        "memory_nodes": True,
        "memory_clock": DAY_CLOCK,
        "use_sim_time": False,
        "frame": text(load_robot(chosen(context, "robot")).base_frame),
        "map_id": text(map_id or chosen(context, "map_id")),
        "instruction": text(instruction),
        "types": text(",".join(detected_types(context))),
    }
    ends: dict[str, Any] = {"on_exit": end_with} if instruction else dict(AGAIN)
    nodes = [node("skill_server", skills, **AGAIN), node("planner", given, **ends)]
    if "policy" in load_robot(chosen(context, "robot")).skills.values():
        remapped = [(topics.PREDICT_CHUNK, topics.SKILL_POLICY)]
        nodes.append(policy_server(("bag", "socket"), remapped, backend=text(chosen(context, "policy")), skills=True))
    return nodes
