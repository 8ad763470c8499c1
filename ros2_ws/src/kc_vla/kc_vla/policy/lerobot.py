"""LeRobot's ACT policies: images and state to a chunk of actions, by the file that `kc-vla export act` makes."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot
from kc_vla.datasets.lerobot.cameras import find_camera
from kc_vla.inference.onnx_sessions import InferenceError, open_session
from kc_vla.policy.act import ABOUT, EXPORTED, ActModelInfo, digest, exported_from, policy_folder, read_config
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.interface import PolicyError, PolicyInput, UnfitPolicyError
from kc_vla.policy.options import LerobotOptions

_SAME_SHAPE = 0.02
"""How far the shape of an image may be from the one that the policy was trained on, as a share of it."""


class LerobotBackend:
    """Runs an exported ACT policy. The instruction is no input: the policy has learned one task."""

    name = "lerobot"
    needs_keyframes = False
    needs_images = True
    needs_plan = False

    def __init__(self, folder: Path, robot: Robot, horizon: int, device: str = "auto", threads: int = 1) -> None:
        """Open the file.

        Args:
            folder: of the policy's files.
            robot: the robot.
            horizon: actions of a chunk that are wanted at least, as far as the policy gives so many.
            device: that it runs on.
            threads: of the CPU.

        Raises:
            PolicyError: it is not there or out of date, cannot be run here, or is for another robot.
        """
        read_config(folder)
        path, again = folder / EXPORTED, f"run `kc-vla export act {folder}`"
        if not path.is_file():
            raise PolicyError(f"{path} is not there, which is what runs here of the policy: {again}")
        try:
            self._session = open_session(path, device, threads)
            self._about = exported_from(self._session.get_modelmeta().custom_metadata_map.get(ABOUT, "{}"))
        except (InferenceError, ValueError) as error:
            raise PolicyError(f"{error}: {again} again") from error
        for name, known in self._about.digests.items():
            if (folder / name).exists() and digest(folder / name) != known:
                raise PolicyError(f"{folder / name} has changed since the policy was exported: {again} again")
        codec = _codec(self._about, robot, folder)
        self.action_type, self.names = codec.action, codec.action_names
        self._views = _views(self._about, robot, folder)
        self._folder = folder
        self._rows = min(self._about.chunk, max(self._about.executed, horizon))

    def reset(self, episode: Episode) -> str:
        """Return what this stack does otherwise than the policy's own configuration says."""
        if self._about.ensembling is None:
            return ""
        return (
            f"{self._folder} asks for temporal ensembling ({self._about.ensembling:g}), which is not done here: "
            "chunks are blended into one another instead (blend_steps of the arm controller)"
        )

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return a chunk; PolicyError where a view is missing or of another shape, or no finite numbers come out."""
        feed = {f"picture{number}": self._picture(given, view, size) for number, (view, size) in enumerate(self._views)}
        if self._about.state:
            feed["state"] = np.asarray(given.state, np.float32)
        chunk: NDArray[np.float32] = self._session.run(None, feed)[0][: self._rows]
        if not np.isfinite(chunk).all():
            raise UnfitPolicyError(f"the policy in {self._folder} gave no finite numbers: its weights are damaged")
        if self.action_type is ActionType.TOOL_DELTA:
            chunk[:, -1] = chunk[:, -1].clip(0.0, 1.0)
        return chunk

    def _picture(self, given: PolicyInput, view: str, size: tuple[int, int]) -> NDArray[np.uint8]:
        if view not in given.views:
            raise UnfitPolicyError(f"the policy in {self._folder} looks at {view}: there is no such image here")
        picture, (height, width) = given.views[view], size
        if picture.shape[:2] == size:
            return np.ascontiguousarray(picture)
        if abs(picture.shape[1] / picture.shape[0] * height / width - 1) > _SAME_SHAPE:
            raise PolicyError(
                f"the images of {view} are {picture.shape[1]} x {picture.shape[0]}, the policy in {self._folder} "
                f"was trained on {width} x {height}: set the camera to that shape"
            )
        way = cv2.INTER_AREA if picture.shape[0] > height else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(picture, (width, height), interpolation=way), np.uint8)


def open_lerobot(context: PolicyContext, options: LerobotOptions) -> LerobotBackend:
    """Return the policy that the options name.

    Raises:
        PolicyError: there is none, it cannot be run here, or it is for another robot or other cameras.
    """
    if not options.checkpoint:
        raise PolicyError("policy:=lerobot needs checkpoint:=, the folder with a LeRobot policy's config.json")
    folder = policy_folder(Path(options.checkpoint).expanduser())
    return LerobotBackend(folder, context.robot, context.horizon, options.device, options.threads)


def _codec(about: ActModelInfo, robot: Robot, folder: Path) -> Codec:
    """Return the codec of the policy's state and actions: the one that fits the number of each."""
    codecs = [Codec(robot, action) for action in ActionType]
    fits = [
        codec
        for codec in codecs
        if len(codec.action_names) == about.action and about.state in (0, len(codec.state_names))
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise PolicyError(
            f"the policy in {folder} takes no state, and {about.action} numbers can be joint positions or tool "
            f"deltas of the robot '{robot.name}': only one with a state tells which"
        )
    sizes = " or ".join(f"{len(codec.state_names)} and {len(codec.action_names)}" for codec in codecs)
    raise PolicyError(
        f"the policy in {folder} takes a state of {about.state} numbers and gives actions of {about.action}: the "
        f"robot '{robot.name}' has {sizes} (joint positions or tool deltas): choose the robot that it was trained on"
    )


def _views(about: ActModelInfo, robot: Robot, folder: Path) -> list[tuple[str, tuple[int, int]]]:
    """Return which view of the robot each camera of the policy is, and the size that it was trained at."""
    named: dict[str, str] = {}
    for view in robot.views:
        if (key := find_camera(list(about.cameras), view, taken=named)) is not None:
            named[key] = view
    if missing := [key for key in about.cameras if key not in named]:
        raise PolicyError(
            f"the policy in {folder} looks at {', '.join(missing)}: the robot '{robot.name}' has no such view, only "
            f"{', '.join(robot.views)}; name its views in a robot file of your own"
        )
    return [(named[key], size) for key, size in about.cameras.items()]
