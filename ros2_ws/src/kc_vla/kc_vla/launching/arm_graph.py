"""The whole graph around a robot: cameras, selector, buffer, policy, controller, arm; until Ctrl-C parks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import LogInfo, OpaqueFunction, SetLaunchConfiguration
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node, SetRemap

from kc_vla.arm.kinds import ARMS, choose_arm
from kc_vla.calibration.reading import NO_CAMERA_PLACE
from kc_vla.core.options import parse_options
from kc_vla.core.robot import load_robot
from kc_vla.core.robot_model import PIPER, ROS
from kc_vla.core.robot_model import SIMULATED as MOVED_BY_A_SIMULATOR
from kc_vla.core.tasks import UnknownTaskError, find_task
from kc_vla.launching.arguments import Argument, chosen, is_on
from kc_vla.launching.cameras import FILES, cameras_of, hand_eye_files
from kc_vla.launching.detector import check_detector, detector_arguments, perception
from kc_vla.launching.endings import end_with, last_word
from kc_vla.launching.graph import (
    AGAIN,
    CLOSE_S,
    emulated_bus,
    launch_file,
    memory_arguments,
    node,
    output_argument,
    replayed_bag_argument,
    state_folder,
    text,
    texts,
    transforms,
    transforms_argument,
)
from kc_vla.launching.kinds import (
    AnyText,
    CanInterfaceName,
    Checked,
    NotEmpty,
    Number,
    OneOf,
    Switch,
)
from kc_vla.launching.namespace import namespace_of
from kc_vla.launching.parameters import parameter_arguments
from kc_vla.launching.policies import (
    check_policy,
    execution,
    policy_argument,
    policy_model_arguments,
    policy_server,
    policy_server_arguments,
    script_argument,
    selector_argument,
    socket_argument,
    takeover_argument,
)
from kc_vla.launching.renamed import robot_arguments
from kc_vla.launching.selector import check_selector, model_arguments, selector
from kc_vla.launching.skills import check_planner, is_planned, mover_of, planned_nodes, planner_argument, remembering
from kc_vla.launching.stand_in import (
    EMULATED,
    SIMULATED,
    STAND_INS,
    START_S,
    check_stand_in,
    stand_in,
    stand_in_arguments,
)
from kc_vla.launching.viewer import viewer_arguments, viewers
from kc_vla.perception.detectors import NO_DETECTOR

AUTO = "auto"
PARK_S = "45"
"""How long the controller may take to park the arm before it is killed; the arm keeps its power then."""


def check(context: LaunchContext) -> None:
    """Look whether there is what the arguments name before anything starts."""
    kind, can, leader = _kind(context), chosen(context, "can"), chosen(context, "leader")
    if not chosen(context, "instruction"):
        try:
            find_task(chosen(context, "task"))
        except UnknownTaskError as error:
            raise RuntimeError(f"{error}, or say with instruction:= what the task of that name is") from error
    wanted = {"can": can} if kind == PIPER else {}
    wanted |= {"leader": leader} if _is_led(context) and "/" not in leader else {}
    for argument, interface in wanted.items():
        if not _exists(interface):
            raise RuntimeError(
                f"{argument}:={interface}: there is no such CAN interface: plug it in, then "
                f"'kc-vla setup can {interface} --do'; `kc-vla doctor` shows those that there are"
            )
    if kind in STAND_INS:
        check_stand_in(context, kind)
    else:
        choose_arm(kind, load_robot(chosen(context, "robot")), parse_options(chosen(context, "driver")))
    _cameras(context)


def check_place(context: LaunchContext) -> None:
    """Check that skills know where a camera of a real arm is, before that arm is enabled.

    Raises:
        RuntimeError: no file with a camera's place is named.
    """
    if is_planned(context) and _kind(context) not in STAND_INS and not _places(context):
        raise RuntimeError(NO_CAMERA_PLACE)


def _places(context: LaunchContext) -> str:
    """Return the files with the places of the cameras, separated as in a PATH."""
    if _kind(context) == SIMULATED:
        return ""
    robot, file = (chosen(context, name) for name in ("robot", "cameras"))
    return hand_eye_files(Path(file).expanduser(), load_robot(robot))


def mover(context: LaunchContext) -> list[SetLaunchConfiguration]:
    """What `policy:=auto` stands for: an arm that is real moves by nothing that nobody has named."""
    if chosen(context, "policy") != AUTO:
        return []
    if is_planned(context):  # by skills, which need a calibrated camera: no policy moves the arm
        return [SetLaunchConfiguration("policy", "scripted")]
    if _kind(context) not in STAND_INS:
        raise RuntimeError(
            "a real arm moves by what is named alone: add policy:=joy (a person), policy:=learned or another one; "
            "policy:=scripted goes through the poses of script:= at once"
        )
    return [SetLaunchConfiguration("policy", "scripted")]


def _kind(context: LaunchContext) -> str:
    """Return which arm moves: a name of the table of arm drivers, or one of `STAND_INS`."""
    kind = chosen(context, "arm")
    if kind != AUTO:
        return kind
    robot = load_robot(chosen(context, "robot"))
    if robot.driver.type == MOVED_BY_A_SIMULATOR:
        raise RuntimeError(
            f"the robot '{robot.name}' is moved by a simulator: maniskill.launch.py starts it; name another robot, "
            "or a driver with arm:="
        )
    return robot.driver.type if robot.driver.type != PIPER or _exists(chosen(context, "can")) else EMULATED


def _is_led(context: LaunchContext) -> bool:
    """Whether a second arm leads, from the first frame or where it takes over."""
    return "leader" in (chosen(context, name) for name in ("policy", "takeover"))


def _exists(interface: str) -> bool:
    return Path("/sys/class/net", interface).exists()


def _cameras(context: LaunchContext) -> dict[str, dict[str, Any]]:
    """The parameters of each view's camera; none where a simulator draws the images."""
    if _kind(context) == SIMULATED:
        return {}
    robot, file = (chosen(context, name) for name in ("robot", "cameras"))
    return cameras_of(Path(file).expanduser(), load_robot(robot))


def cameras(context: LaunchContext) -> list[Node]:
    """Start one camera node for each view."""
    return [
        node("camera", wanted | {name: text(wanted[name]) for name in FILES}, view=view, **AGAIN)
        for view, wanted in _cameras(context).items()
    ]


def told_transforms(context: LaunchContext) -> list[Any]:
    """Start the node that publishes where links and cameras are; of the links, where no third-party driver does."""
    return transforms(context, _places(context), driven=_kind(context) == ROS)


def arm(context: LaunchContext) -> list[Any]:
    """Start the controller, and an emulated arm where there is none."""
    asked, can = (chosen(context, name) for name in ("arm", "can"))
    kind = _kind(context)
    actions: list[Any] = []
    if asked == AUTO and kind == EMULATED:
        message = f"NO ARM: there is no CAN interface '{can}', so an EMULATED Piper moves instead of a real one"
        actions.append(LogInfo(msg=message))
    elif kind == ROS:
        # The driver's own joint states are often there: ours have other names, units and order.
        actions.append(SetRemap("joint_states", "kc_vla/joint_states"))
    channel, bus = can, "socketcan"
    waits: dict[str, Any] = {}
    if kind in STAND_INS:
        channel, bus = emulated_bus(namespace_of(context)), "kc_vla_socket"
        waits = {"bus_timeout": START_S}
        actions.append(stand_in(context, kind, channel, PARK_S))
    controller: dict[str, Any] = {"arm": PIPER, "channel": channel, "bus": bus}
    if kind not in (PIPER, *STAND_INS):
        controller = {"arm": kind}
    controller |= waits | texts(robot="robot", driver="driver")
    leader = chosen(context, "leader")
    if _is_led(context):
        kind_of_bus = "kc_vla_socket" if "/" in leader else "socketcan"
        actions.append(node("leader_arm", {"channel": leader, "bus": kind_of_bus, **texts(robot="robot")}, **AGAIN))
    of_stop = ("arm", "channel", "bus", "robot", "driver")
    stopped = {name: value for name, value in controller.items() if name in of_stop}
    actions.append(node("stop_relay", stopped, **AGAIN))
    actions.append(node("arm_controller", controller, files=execution(context), sigterm_timeout=PARK_S, **AGAIN))
    return actions


def looking_on(context: LaunchContext) -> list[Node]:
    """The live page says which arm moves: an emulated one may stand in for a real one."""
    return viewers({**{kind: kind for kind in STAND_INS}, ROS: ""}.get(_kind(context), "real"))


def session(context: LaunchContext) -> list[Node]:
    """Start what begins and ends the episode; with a recorder, not before that hears."""
    given = texts(task="task", instruction="instruction", robot="robot") | {"mover": text(mover_of(context))}
    others = {"duration": LaunchConfiguration("duration"), "recorded": is_on(context, "record")}
    return [node("robot_session", {**given, **others}, on_exit=end_with)]


def chunks(context: LaunchContext) -> list[Any]:
    """Start what answers the arm's requests for chunks: a policy, or the skills of a planner."""
    if not is_planned(context):
        backend = text(LaunchConfiguration("policy"))
        return [policy_server(("takeover", "script", "bag", "socket"), backend=backend)]
    return planned_nodes(context, real=_kind(context) not in STAND_INS, hand_eye=_places(context))


def arm_graph(robot: str | None, description: str) -> list[LaunchDescriptionEntity]:
    """Return what a launch file of a robot describes.

    Args:
        robot: the robot where none is named; None if one must be.
        description: of the argument `robot`.
    """
    argument = LaunchConfiguration

    return [
        Argument(
            "arm",
            OneOf((AUTO, *STAND_INS, *ARMS.names())),
            default_value=AUTO,
            description="what moves; auto: the driver of the robot file, or an emulated arm for a Piper whose CAN "
            "interface is missing; emulated: an emulated Piper; simulated: one with a body and cameras in ManiSkill; "
            "else a driver by its name, as kc-vla doctor lists them",
        ),
        Argument(
            "driver",
            Checked(parse_options, empty=True),
            default_value="",
            description="options of the driver that replace those of the robot file, such as '{address: 192.168.1.5}'",
        ),
        *robot_arguments(robot, description),
        Argument("can", CanInterfaceName(), default_value="can0", description="CAN interface, up at 1 Mbit/s"),
        Argument(
            "cameras",
            NotEmpty(),
            default_value=launch_file("desk", "cameras.yaml"),
            description="YAML file with the source of each view: a device, a video, a folder of images, a topic",
        ),
        Argument(
            "task",
            NotEmpty(),
            default_value="counting",
            description="task, which decides the keyframes: a name in the task table, or any name with instruction:=",
        ),
        Argument(
            "instruction",
            AnyText(),
            default_value="",
            description="instruction for the policy; empty: that of the task",
        ),
        policy_argument("piper", AUTO, {AUTO: "scripted on an emulated arm; a real arm then does not move"}),
        takeover_argument("joy", "leader"),
        *policy_model_arguments(),
        *policy_server_arguments(),
        socket_argument(),
        script_argument(),
        Argument(
            "leader",
            CanInterfaceName(path=True),
            default_value="can1",
            description="CAN interface of the arm that a person leads by hand",
        ),
        replayed_bag_argument(),
        *selector_argument("piper"),
        *model_arguments(),
        Argument(
            "duration", Number(0), default_value="0.0", description="s after which the episode ends; 0.0: at Ctrl-C"
        ),
        Argument("record", Switch(), default_value="false", description="true: record an MCAP bag of the episode"),
        output_argument("bags"),
        *stand_in_arguments(),
        planner_argument(),
        transforms_argument(),
        *detector_arguments("piper", NO_DETECTOR),
        *memory_arguments("home", planned=True),
        *viewer_arguments(default=False),
        *parameter_arguments("piper.yaml"),
        OpaqueFunction(function=check),
        OpaqueFunction(function=mover),
        OpaqueFunction(function=check_policy),
        OpaqueFunction(function=check_selector),
        OpaqueFunction(function=check_detector),
        OpaqueFunction(function=check_planner),
        OpaqueFunction(function=check_place),
        *last_word(real=True),
        OpaqueFunction(function=arm),
        OpaqueFunction(function=cameras),
        selector(),
        node("keyframe_buffer", {"state_folder": state_folder(), **texts(robot="robot")}, **AGAIN),
        OpaqueFunction(function=chunks),
        node(
            "recorder",
            texts(output_folder="output", robot="robot"),
            condition=IfCondition(argument("record")),
            sigterm_timeout=CLOSE_S,
            **AGAIN,
        ),
        OpaqueFunction(function=told_transforms),
        OpaqueFunction(function=perception),
        OpaqueFunction(function=remembering),
        OpaqueFunction(function=looking_on),
        OpaqueFunction(function=session),
    ]
