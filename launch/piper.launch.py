"""The whole graph around an AgileX Piper: cameras, selector, buffer, policy, controller, arm; until Ctrl-C parks it.

Or around another arm, that a driver of others moves: arm:=ros.

ros2 launch kc_vla piper.launch.py
ros2 launch kc_vla piper.launch.py arm:=piper can:=can0 cameras:=desk.yaml policy:=joy task:=counting record:=true
ros2 launch kc_vla piper.launch.py arm:=ros rig:=ur5e_ros cameras:=desk.yaml policy:=joy
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, SetLaunchConfiguration
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, SetRemap
from launch_ros.substitutions import FindPackageShare

from kc_vla.core.rig import load_rig
from kc_vla.core.robot_interface import RobotInterface
from kc_vla.launching.cameras import FILES, cameras_of, hand_eye_files
from kc_vla.launching.endings import end_with, last_word
from kc_vla.launching.graph import (
    AGAIN,
    CLOSE_S,
    POLICY_FILES,
    POLICY_SERVER,
    emulated_bus,
    execution,
    memories,
    memory_arguments,
    node,
    parameter_arguments,
    policy_argument,
    policy_model_arguments,
    policy_server_arguments,
    replayed_bag_argument,
    socket_argument,
    source_argument,
    state_folder,
    takeover_argument,
    text,
    texts,
    transforms,
    transforms_argument,
)
from kc_vla.launching.selector import model_arguments, selector
from kc_vla.launching.viewer import viewer_arguments, viewers

AUTO, EMULATED = "auto", "emulated"
PARK_S = "45"
"""How long the controller may take to park the arm before it is killed; the arm keeps its power then."""


def check(context: LaunchContext) -> None:
    """Look whether there is what the arguments name before anything starts."""
    kind, can, leader = (LaunchConfiguration(name).perform(context) for name in ("arm", "can", "leader"))
    wanted = {"can": can} if kind == "piper" else {}
    wanted |= {"leader": leader} if _is_led(context) and "/" not in leader else {}
    for argument, interface in wanted.items():
        if not _exists(interface):
            raise RuntimeError(
                f"{argument}:={interface}: there is no such CAN interface: plug it in, then "
                f"'kc-vla setup can {interface} --do'; `kc-vla doctor` shows those that there are"
            )
    if kind == "ros":
        _interface(context)
    _cameras(context)


def mover(context: LaunchContext) -> list[SetLaunchConfiguration]:
    """What `policy:=auto` stands for: an arm that is real moves by nothing that nobody has named."""
    if LaunchConfiguration("policy").perform(context) != AUTO:
        return []
    if _kind(context) != EMULATED:
        raise RuntimeError(
            "a real arm moves by what is named alone: add policy:=joy (a person), policy:=learned or another one; "
            "policy:=scripted goes through the poses of script:= at once"
        )
    return [SetLaunchConfiguration("policy", "scripted")]


def _kind(context: LaunchContext) -> str:
    """Which arm moves: "piper", "ros" or `EMULATED`."""
    kind, can = (LaunchConfiguration(name).perform(context) for name in ("arm", "can"))
    if kind == AUTO:
        return "piper" if _exists(can) else EMULATED
    return kind


def _interface(context: LaunchContext) -> RobotInterface:
    """How a driver of others moves the arm."""
    rig = load_rig(LaunchConfiguration("rig").perform(context))
    if rig.interface is None:
        raise RuntimeError(
            f"arm:=ros: the rig '{rig.name}' does not say how others' drivers move it: name one that has a section "
            "'interface', see docs/other_robots.md"
        )
    return rig.interface


def _is_led(context: LaunchContext) -> bool:
    """Whether a second arm leads, from the first frame or where it takes over."""
    return "leader" in (LaunchConfiguration(name).perform(context) for name in ("policy", "takeover"))


def _exists(interface: str) -> bool:
    return Path("/sys/class/net", interface).exists()


def _cameras(context: LaunchContext) -> dict[str, dict]:
    """The parameters of each view's camera."""
    rig, file = (LaunchConfiguration(name).perform(context) for name in ("rig", "cameras"))
    return cameras_of(Path(file).expanduser(), load_rig(rig))


def cameras(context: LaunchContext) -> list[Node]:
    """Start one camera node for each view."""
    return [
        Node(
            package="kc_vla",
            executable="camera",
            name="camera",
            namespace=view,
            parameters=[wanted | {name: text(wanted[name]) for name in FILES}],
            output="screen",
            **AGAIN,
        )
        for view, wanted in _cameras(context).items()
    ]


def told_transforms(context: LaunchContext) -> list:
    """Start what tells where links and cameras are; of the links where no driver of others does."""
    kind, rig, file = (LaunchConfiguration(name).perform(context) for name in ("arm", "rig", "cameras"))
    return transforms(context, hand_eye_files(Path(file).expanduser(), load_rig(rig)), driven=kind == "ros")


def arm(context: LaunchContext) -> list:
    """Start the controller, and an emulated arm where there is none."""
    asked, can = (LaunchConfiguration(name).perform(context) for name in ("arm", "can"))
    kind = _kind(context)
    actions: list = []
    if asked == AUTO and kind == EMULATED:
        message = f"NO ARM: there is no CAN interface '{can}', so an EMULATED Piper moves instead of a real one"
        actions.append(LogInfo(msg=message))
    elif kind == "ros":
        # The driver's own joint states are often there: ours have other names, units and order.
        actions.append(SetRemap("joint_states", "kc_vla/joint_states"))
    channel, bus = can, "socketcan"
    if kind == EMULATED:
        channel, bus = emulated_bus(), "kc_vla_socket"
        emulator = {"path": channel, **texts(fault="fault", rig="rig")}
        actions.append(node("piper_emulator", emulator, sigterm_timeout=PARK_S, on_exit=end_with))
    controller: dict = {"arm": "ros"} if kind == "ros" else {"arm": "piper", "channel": channel, "bus": bus}
    controller |= texts(rig="rig")
    leader = LaunchConfiguration("leader").perform(context)
    if _is_led(context):
        kind_of_bus = "kc_vla_socket" if "/" in leader else "socketcan"
        actions.append(node("leader_arm", {"channel": leader, "bus": kind_of_bus, **texts(rig="rig")}, **AGAIN))
    actions.append(node("arm_controller", controller, files=execution(context), sigterm_timeout=PARK_S, **AGAIN))
    return actions


def looking_on(context: LaunchContext) -> list[Node]:
    """The live page says which arm moves: an emulated one may stand in for a real one."""
    return viewers({EMULATED: EMULATED, "piper": "real"}.get(_kind(context), ""))


def session(context: LaunchContext) -> list[Node]:
    """Start what begins and ends the episode; with a recorder, not before that hears."""
    given = {"duration": LaunchConfiguration("duration"), **texts(task="task", instruction="instruction", rig="rig")}
    recorded = IfCondition(LaunchConfiguration("record")).evaluate(context)
    return [node("robot_session", {**given, "recorded": recorded}, on_exit=end_with)]


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    argument = LaunchConfiguration

    def file(*parts: str) -> PathJoinSubstitution:
        return PathJoinSubstitution([FindPackageShare("kc_vla"), "launch", *parts])

    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "arm",
                default_value=AUTO,
                choices=[AUTO, "piper", EMULATED, "ros"],
                description="auto: the Piper on the CAN interface, an emulated one if there is no such interface; "
                "ros: the arm that a driver of others moves, as the rig's section 'interface' says",
            ),
            DeclareLaunchArgument(
                "rig",
                default_value="piper",
                description="which Piper: piper, piper_h, piper_l, piper_x, or a YAML file, e.g. with other views; for "
                "arm:=ros one that says how it is moved",
            ),
            DeclareLaunchArgument("can", default_value="can0", description="CAN interface, up at 1 Mbit/s"),
            DeclareLaunchArgument(
                "cameras",
                default_value=file("desk", "cameras.yaml"),
                description="YAML file with the source of each view: a device, a video, a folder of pictures, a topic",
            ),
            DeclareLaunchArgument(
                "task",
                default_value="counting",
                description="what the keyframes are: a known task; any with instruction:=",
            ),
            DeclareLaunchArgument(
                "instruction", default_value="", description="what the policy is told; empty: as the task has it"
            ),
            policy_argument("piper", AUTO, {AUTO: "scripted on an emulated arm; a real one has to be told"}),
            takeover_argument("joy", "leader"),
            *policy_model_arguments(),
            *policy_server_arguments(),
            socket_argument(),
            DeclareLaunchArgument(
                "script", default_value=file("params", "piper_script.yaml"), description="poses for policy:=scripted"
            ),
            DeclareLaunchArgument("leader", default_value="can1", description="CAN interface of the arm led by hand"),
            replayed_bag_argument(),
            source_argument("piper"),
            *model_arguments(),
            DeclareLaunchArgument("duration", default_value="0.0", description="s of the episode; 0.0: until Ctrl-C"),
            DeclareLaunchArgument("record", default_value="false", description="true: an MCAP bag of the episode"),
            DeclareLaunchArgument("output", default_value="runs", description="folder for bags"),
            DeclareLaunchArgument("fault", default_value="none", description="of the emulated arm, e.g. 'loss 0.2'"),
            transforms_argument(),
            *memory_arguments("home"),
            *viewer_arguments(default=False),
            *parameter_arguments("piper.yaml"),
            *last_word(real=True),
            OpaqueFunction(function=check),
            OpaqueFunction(function=mover),
            OpaqueFunction(function=arm),
            OpaqueFunction(function=cameras),
            selector(),
            node("keyframe_buffer", {"state_folder": state_folder(), **texts(rig="rig")}, **AGAIN),
            node(
                "policy_server",
                texts(
                    backend="policy",
                    takeover="takeover",
                    rig="rig",
                    script="script",
                    bag="bag",
                    socket="socket",
                    **POLICY_FILES,
                    **POLICY_SERVER,
                ),
                **AGAIN,
            ),
            node(
                "recorder",
                texts(output_folder="output", rig="rig"),
                condition=IfCondition(argument("record")),
                sigterm_timeout=CLOSE_S,
                **AGAIN,
            ),
            OpaqueFunction(function=told_transforms),
            memories(),
            OpaqueFunction(function=looking_on),
            OpaqueFunction(function=session),
        ]
    )
