"""The policies that come with the stack. A row imports what it makes when it makes it: nothing else waits for that."""

from __future__ import annotations

from pathlib import Path

from kc_vla.core.options import NoOptions
from kc_vla.policy.backends import PolicyContext, PolicyKind
from kc_vla.policy.interface import Backend
from kc_vla.policy.options import (
    ExternalOptions,
    GrootOptions,
    LearnedOptions,
    LerobotOptions,
    OpenPiOptions,
    RecordingOptions,
    ScriptOptions,
    TrajectoryOptions,
)


def _expert(context: PolicyContext, options: NoOptions) -> Backend:
    from kc_vla.policy.expert import ExpertBackend

    return ExpertBackend()


def _learned(context: PolicyContext, options: LearnedOptions) -> Backend:
    from kc_vla.policy.learned import open_learned

    return open_learned(context, options)


def _lerobot(context: PolicyContext, options: LerobotOptions) -> Backend:
    from kc_vla.policy.lerobot import open_lerobot

    return open_lerobot(context, options)


def _replay(context: PolicyContext, options: RecordingOptions) -> Backend:
    from kc_vla.policy.replay import open_recording

    return open_recording(options.bag, context.horizon, context.robot)


def _groot(context: PolicyContext, options: GrootOptions) -> Backend:
    from kc_vla.policy.remote.groot import open_groot

    return open_groot(context, options)


def _openpi(context: PolicyContext, options: OpenPiOptions) -> Backend:
    from kc_vla.policy.remote.openpi import open_openpi

    return open_openpi(context, options)


def _scripted(context: PolicyContext, options: ScriptOptions) -> Backend:
    from kc_vla.policy.scripted import ScriptedBackend, load_script

    script = load_script(Path(options.script).expanduser(), context.robot)
    return ScriptedBackend(script, context.horizon, context.robot)


def _driven(context: PolicyContext, options: ExternalOptions) -> Backend:
    from kc_vla.policy.driven.backend import open_driven

    return open_driven(context, options)


def _trajectory(context: PolicyContext, options: TrajectoryOptions) -> Backend:
    from kc_vla.policy.trajectory.backend import TrajectoryBackend

    return TrajectoryBackend(context.robot, options)


def _leader(context: PolicyContext, options: NoOptions) -> Backend:
    from kc_vla.policy.teleop import LeaderBackend

    backend = LeaderBackend(context.robot)
    context.listen("leader", backend.offer)
    return backend


def _joy(context: PolicyContext, options: NoOptions) -> Backend:
    from kc_vla.policy.teleop import JoyBackend

    backend = JoyBackend()
    context.listen("joy", backend.offer)
    return backend


EXPERT = PolicyKind("the simulator's expert", NoOptions, _expert, graphs=("maniskill",), inline=True)
LEARNED = PolicyKind("a network that acts on the keyframes, policy_models:=", LearnedOptions, _learned)
GROOT = PolicyKind("a GR00T server, server:=", GrootOptions, _groot)
OPENPI = PolicyKind("an openpi server, server:=", OpenPiOptions, _openpi)
LEROBOT = PolicyKind("an ACT policy of LeRobot's, checkpoint:=", LerobotOptions, _lerobot)
REPLAY = PolicyKind("the actions of a recorded episode, bag:=", RecordingOptions, _replay, inline=True)
SCRIPTED = PolicyKind("poses of a file, script:=", ScriptOptions, _scripted, graphs=("piper", "replay"), inline=True)
DRIVEN = PolicyKind(
    "a program at a local socket, such as LeRobot's, socket:=", ExternalOptions, _driven, graphs=("maniskill", "piper")
)
TRAJECTORY = PolicyKind(
    "trajectories of MoveIt or another ros2_control client",
    TrajectoryOptions,
    _trajectory,
    graphs=("piper",),
    inline=True,
    cameras=False,
)
LEADER = PolicyKind("a second Piper led by hand", NoOptions, _leader, graphs=("piper",), inline=True)
JOY = PolicyKind("a gamepad or the keyboard", NoOptions, _joy, graphs=("piper",), inline=True)
