"""A robot in a symbolic home carries instructions out with both memories, and prints lines that a person can follow.

ros2 launch kc_vla household.launch.py instruction:="wash an apple, then bring it to the table"
"""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from kc_vla.core.ports import HOUSEHOLD_PAGE
from kc_vla.launching.arguments import Argument, chosen
from kc_vla.launching.endings import end_with, last_word
from kc_vla.launching.graph import AGAIN, CLOSE_S, crops_folder, node, text, texts
from kc_vla.launching.kinds import PORT, AnyText, NewPath, Number, OneOf, ServerUrl, Switch, typed
from kc_vla.launching.namespace import Suffix
from kc_vla.launching.parameters import parameter_arguments
from kc_vla.memory.robot.robot_memory import LONG_PART, SHORT_PART, parts_of


def check(context: LaunchContext) -> None:
    """See that the arguments fit one another before anything starts.

    Raises:
        RuntimeError: they do not, or the package with the homes is not installed.
        ValueError: there is no such home or sequence.
    """
    for name in ("server", "cache"):
        if planned_by(context) == "grammar" and chosen(context, name):
            raise RuntimeError(f"{name}:= is of a language model, and none plans: name it with llm:=")
    if planned_by(context) == "model" and not chosen(context, "llm"):
        raise RuntimeError("planner:=model needs llm:=: the name of the language model")
    try:
        scenes, sessions = (import_module(f"kc_vla_sim.household.{name}") for name in ("scenes", "session"))
    except ImportError as error:
        raise RuntimeError(f"the package kc_vla_sim, which has the homes, cannot be used: {error}") from error
    sequence = chosen(context, "sequence")
    sessions.wanted(chosen(context, "instruction"), sequence)
    scenes.build(*sessions.home_of(sequence, chosen(context, "scene"), typed(chosen(context, "seed"))))


def planned_by(context: LaunchContext) -> str:
    """What makes the plans: "grammar" or "model"."""
    asked = chosen(context, "planner")
    return asked if asked != "auto" else "model" if chosen(context, "llm") else "grammar"


def map_of(context: LaunchContext) -> str:
    """The map that the long-term memory is in; a sequence that comes with the stack has a scene of its own."""
    map_id, sequence, scene, seed = (chosen(context, each) for each in ("map_id", "sequence", "scene", "seed"))
    if map_id:
        return map_id
    return sequence if sequence and not Path(sequence).expanduser().is_file() else f"{scene}-{seed}"


def memories(context: LaunchContext) -> list[Node]:
    """The nodes that remember, as far as the memory consists of them; others can ask them while the robot works."""
    wanted = parts_of(chosen(context, "memory")) if typed(chosen(context, "memory_nodes")) else ()
    nodes = []
    if LONG_PART in wanted:
        given = {"map_id": text(map_of(context)), **texts(store="memory_store")}
        nodes.append(node("long_term_memory", given, sigterm_timeout=CLOSE_S, **AGAIN))
    if SHORT_PART in wanted:
        nodes.append(node("short_term_memory", {"crops": crops_folder()}, **AGAIN))
    return nodes


def planner(context: LaunchContext) -> list[Node]:
    """The planner; a language model plans where one is named."""
    given = texts(memory="memory", store="memory_store", model="llm", server="server", cache="cache")
    return [
        node(
            "planner",
            {
                "planner": planned_by(context),
                "offline": LaunchConfiguration("offline"),
                "memory_nodes": LaunchConfiguration("memory_nodes"),
                "map_id": text(map_of(context)),
                **given,
            },
            **AGAIN,
        )
    ]


def session(context: LaunchContext) -> list[Node]:
    """With something to do: what gives it, and the recorder; all ends when it is done."""
    if not any(chosen(context, each).strip() for each in ("instruction", "sequence")):
        return []
    given = texts(
        instruction="instruction", sequence="sequence", scene="scene", memory="memory", output_folder="output"
    )
    return [
        node("recorder", texts(output_folder="output"), sigterm_timeout=CLOSE_S, **AGAIN),
        node(
            "home_session",
            {"seed": LaunchConfiguration("seed"), **given},
            package="kc_vla_sim",
            sigterm_timeout=CLOSE_S,
            on_exit=end_with,
        ),
    ]


def page(context: LaunchContext) -> list[Node]:
    """The live map, unless nobody wants it."""
    if chosen(context, "page") == "none":
        return []
    given = {"port": LaunchConfiguration("page"), "crops": crops_folder(), **texts(token="token")}
    return [node("home_page", given, package="kc_vla_sim", **AGAIN)]


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    argument = LaunchConfiguration
    return LaunchDescription(
        [
            Argument(
                "instruction",
                AnyText(),
                default_value="",
                description="instruction to carry out; empty: wait for the action execute_instruction",
            ),
            Argument(
                "sequence",
                AnyText(),
                default_value="",
                description="several instructions in place of instruction:=: the name of a sequence, such as "
                "composite-test-001, which has a scene of its own; or a file with an instruction in "
                "each line",
            ),
            Argument(
                "scene",
                AnyText(),
                default_value="home1",
                description="scene: home1 to home30; house1 to house30, with two floors; or the number of a floor "
                "plan of ALFRED",
            ),
            Argument(
                "seed",
                Number(0, 2**31 - 1, whole=True),
                default_value="0",
                description="seed of the places of all objects",
            ),
            Argument(
                "pace",
                Number(0, 1e6),
                default_value="20.0",
                description="speed-up of the durations of skills; 0: skills take no time",
            ),
            Argument(
                "memory",
                OneOf(("both", "long", "short", "none", "history", "context")),
                default_value="both",
                description="memories of the robot; history: the last things that it saw; context: the things that "
                "it handled",
            ),
            Argument(
                "memory_nodes",
                Switch(),
                default_value="true",
                description="true: the memories run in the nodes long_term_memory and short_term_memory, which other "
                "clients can query while the robot works; false: they run in the planner's process",
            ),
            Argument(
                "output",
                NewPath("folder"),
                default_value="runs",
                description="folder for reports, bags and the memory",
            ),
            Argument(
                "page",
                replace(PORT, word="none"),
                default_value=str(HOUSEHOLD_PAGE),
                description="port of the live map on this machine; none: no map",
            ),
            Argument(
                "token",
                AnyText(),
                default_value="",
                description="token with which a person can send instructions from the live map; empty: the map is "
                "read-only",
            ),
            Argument(
                "memory_store",
                NewPath("file"),
                default_value=[argument("output"), "/memory", Suffix(), ".db"],
                description="file of the long-term memory; it is made if it is missing, and outlives the launch. The "
                "home begins anew with each launch, so things can be elsewhere than the memory has them",
            ),
            Argument(
                "map_id",
                AnyText(),
                default_value="",
                description="map of the long-term memory; empty: a map named after scene and seed, or after the "
                "sequence",
            ),
            Argument(
                "planner",
                OneOf(("auto", "grammar", "model")),
                default_value="auto",
                description="planner; grammar: offline; model: a language model; auto: the model if llm:= names "
                "one, otherwise the grammar",
            ),
            Argument("llm", AnyText(), default_value="", description="name of the language model"),
            Argument(
                "server",
                ServerUrl(("http", "https")),
                default_value="",
                description="address of its OpenAI-compatible API; empty: OpenAI's own",
            ),
            Argument(
                "offline",
                Switch(),
                default_value="true",
                description="true: the grammar plans if the model gives no plan; each result names its planner",
            ),
            Argument(
                "cache",
                NewPath("folder", needed=False),
                default_value="",
                description="folder in which the model's answers are cached; empty: none",
            ),
            *parameter_arguments("household.yaml"),
            OpaqueFunction(function=check),
            *last_word(),
            node(
                "household",
                {"seed": argument("seed"), "pace": argument("pace"), **texts(scene="scene", sequence="sequence")},
                package="kc_vla_sim",
                on_exit=end_with,
            ),
            OpaqueFunction(function=memories),
            OpaqueFunction(function=planner),
            OpaqueFunction(function=page),
            OpaqueFunction(function=session),
        ]
    )
