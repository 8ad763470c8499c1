"""The policies by name: a new one is a file that does `interface.Backend`, and a row here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kc_vla.core.choice import Choice

if TYPE_CHECKING:
    from kc_vla.core.rig import Rig
    from kc_vla.policy.interface import Backend

DIALECTS = ("auto", "n1.5", "n1.6", "kc-vla")
"""auto: the server is asked whether it is N1.5 or N1.6 and later; kc-vla: six moments with a mask, after the paper."""
TOKEN = "KC_VLA_POLICY_TOKEN"
"""Environment variable with the token of a policy's server: who looks at the processes does not see it there."""


@dataclass(frozen=True)
class BackendSettings:
    """What a backend is made with; one that has no use for a setting leaves it.

    Attributes:
        rig: the robot.
        horizon: actions in a chunk.
        bag: recorded episode, as the user named it.
        script: file of poses, as the user named it.
        listen: `listen(stream, offer)` has `offer` called with what comes on a stream, on the node's thread: "leader"
            with the positions of the leader's joints and gripper, "joy" with the axes and the buttons.
        model: name of a learned policy in the registry of models.
        models_folder: folder with that registry, as the user named it; empty: the models that come with the stack.
        device: that the model runs on, of `kc_vla.inference.onnx_sessions.DEVICES`.
        threads: of the CPU for the model.
        checkpoint: folder of a policy of LeRobot's, as the user named it.
        socket: path of the Unix socket of a program that drives.
        noise: how far from its middle the noise is drawn that a learned chunk begins with; 1 is as it was learnt.
        strides: whether frames at a stride can be given in place of keyframes, see `kc_vla.policy.history`.
        server: address of a policy's server.
        dialect: of a GR00T server, of `DIALECTS`.
        token: that the server wants; empty: that of the environment, `TOKEN`.
        mapping: what the server calls what the robot sees, feels and does: a file, or the name of one that comes along.
        timeout_s: within which a server is to answer, s.
        measured: `measured(stage, seconds)` is told how long a stage of an answer took; from any thread.
    """

    rig: Rig
    horizon: int
    bag: str = ""
    script: str = ""
    listen: Callable[[str, Callable[..., None]], None] = lambda stream, offer: None
    model: str = "policy"
    models_folder: str = ""
    device: str = "auto"
    threads: int = 1
    checkpoint: str = ""
    socket: str = ""
    noise: float = 0.0
    strides: bool = False
    server: str = ""
    dialect: str = "auto"
    token: str = field(default="", repr=False)
    mapping: str = ""
    timeout_s: float = 2.7
    measured: Callable[[str, float], None] = lambda stage, seconds: None


def _expert(settings: BackendSettings) -> Backend:
    from kc_vla.policy.expert import ExpertBackend

    return ExpertBackend()


def _learned(settings: BackendSettings) -> Backend:
    from kc_vla.policy.learned import open_learned

    return open_learned(settings)


def _lerobot(settings: BackendSettings) -> Backend:
    from kc_vla.policy.lerobot import open_lerobot

    return open_lerobot(settings)


def _replay(settings: BackendSettings) -> Backend:
    from kc_vla.policy.replay import open_recording

    return open_recording(settings.bag, settings.horizon, settings.rig)


def _groot(settings: BackendSettings) -> Backend:
    from kc_vla.policy.remote.groot import open_groot

    return open_groot(settings)


def _openpi(settings: BackendSettings) -> Backend:
    from kc_vla.policy.remote.openpi import open_openpi

    return open_openpi(settings)


def _scripted(settings: BackendSettings) -> Backend:
    from kc_vla.policy.scripted import ScriptedBackend, load_script

    return ScriptedBackend(
        load_script(Path(settings.script).expanduser(), settings.rig), settings.horizon, settings.rig
    )


def _driven(settings: BackendSettings) -> Backend:
    from kc_vla.policy.driven.backend import open_driven

    return open_driven(settings)


def _leader(settings: BackendSettings) -> Backend:
    from kc_vla.policy.teleop import LeaderBackend

    backend = LeaderBackend(settings.rig)
    settings.listen("leader", backend.offer)
    return backend


def _joy(settings: BackendSettings) -> Backend:
    from kc_vla.policy.teleop import JoyBackend

    backend = JoyBackend()
    settings.listen("joy", backend.offer)
    return backend


BACKENDS: dict[str, Choice[BackendSettings, Backend]] = {
    "expert": Choice("the simulator's expert", _expert, ("maniskill",), at_once=True),
    "learned": Choice("a network that acts on the keyframes, policy_models:=", _learned),
    "groot": Choice("a GR00T server, server:=", _groot),
    "openpi": Choice("an openpi server, server:=", _openpi),
    "lerobot": Choice("an ACT policy of LeRobot's, checkpoint:=", _lerobot),
    "replay": Choice("the actions of a recorded episode, bag:=", _replay, at_once=True),
    "scripted": Choice("poses of a file, script:=", _scripted, ("piper", "replay"), at_once=True),
    "driven": Choice("a program at a local socket, such as LeRobot's, socket:=", _driven, ("maniskill", "piper")),
    "leader": Choice("a second Piper led by hand", _leader, ("piper",), at_once=True),
    "joy": Choice("a gamepad or the keyboard", _joy, ("piper",), at_once=True),
}
"""One that computes or waits is not `at_once`: it has a worker with a deadline, and the node goes on meanwhile."""


def open_backend(name: str, settings: BackendSettings) -> Backend:
    """Return the backend called `name`, a key of `BACKENDS`.

    Raises:
        PolicyError: it cannot be used with these settings.
    """
    return BACKENDS[name].make(settings)
