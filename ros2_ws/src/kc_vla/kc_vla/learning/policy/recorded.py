"""A recording of a robot as a policy learns from it: by which cameras, in whose terms, which frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import Codec, CodecError
from kc_vla.core.robot import Robot
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import ACTION, STATE
from kc_vla.datasets.lerobot.reader import DataSet, EpisodeInfo
from kc_vla.datasets.lerobot.source import open_source
from kc_vla.datasets.planned import PlannedEpisode
from kc_vla.keyframes.cameras import Camera
from kc_vla.keyframes.image_crop import trunk_picture
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.demonstrated import demonstrated
from kc_vla.learning.policy.event_keyframes import EventKeyframes
from kc_vla.policy.numbers import space_of


def looked_at(data_set: DataSet, robot: Robot, asked: tuple[Camera, ...]) -> tuple[Camera, ...]:
    """Return what of the robot's cameras is learned from: those `asked` for, or all that the data set has."""
    for camera in asked:
        if camera.view not in robot.views:
            raise DataError(f"a '{robot.name}' has no camera '{camera.view}': it has {', '.join(robot.views)}")
        data_set.camera(camera.view, camera.named)
    if asked:
        return asked
    there = tuple(Camera(view) for view in robot.views if _has(data_set, view))
    if not there:
        data_set.camera(robot.views[0])  # says what cameras there are
    if missing := [view for view in robot.views if Camera(view) not in there]:
        tqdm.write(
            f"{data_set.folder}: none of its cameras {', '.join(data_set.cameras)} is known to be "
            f"{', '.join(missing)} of the robot '{robot.name}': the policy is trained without; "
            f"--camera {missing[0]}=KEY says which it is, with a --camera for each of the others"
        )
    return there


def _has(data_set: DataSet, view: str) -> bool:
    try:
        data_set.camera(view)
    except DataSetError:
        return False
    return True


def _names(data_set: DataSet, key: str) -> tuple[str, ...]:
    return open_source(data_set.folder).names(key) or ()


def codec_of(robot: Robot, data_set: DataSet) -> Codec:
    """Return the codec of a data set's actions; DataError where they are no commands of the robot."""
    names, folder = _names(data_set, ACTION.key), data_set.folder
    codecs = [Codec(robot, action) for action in (ActionType.TOOL_DELTA, ActionType.JOINT_POSITION)]
    for codec in codecs:
        try:
            codec.actions(names, np.zeros((1, len(names))))
        except CodecError:
            continue
        return codec
    known = " or ".join(", ".join(codec.action_names) for codec in codecs)
    told = ", ".join(names) or "numbers without names"
    raise DataError(f"{folder} has actions of {told}: a '{robot.name}' takes {known}")


def read_demonstrated(
    data_set: DataSet,
    info: EpisodeInfo,
    codec: Codec,
    cameras: tuple[Camera, ...],
    person: NDArray[np.bool_] | None,
    events: EventKeyframes | None,
    size: int,
) -> PlannedEpisode:
    """Return an episode of a data set, with the images (T, size, size, 3) of `cameras`.

    Raises:
        DataError: a state is missing.

    Args:
        data_set: that it is of.
        info: which it is.
        codec: of its robot.
        cameras: that are looked at.
        person: in which frames (T,) a person drove, if these alone are learned from.
        events: whose keyframes stand for those that are marked.
        size: of the images, px.
    """
    index, columns = info.index, data_set.columns(info.index)
    told = f"{data_set.folder}, episode {index}"
    if STATE.key not in columns or np.ndim(columns[STATE.key]) != 2:
        raise DataError(f"{told} has no {STATE.key}: a policy needs to know where the arm is")
    states = _states(codec, _names(data_set, STATE.key), np.asarray(columns[STATE.key]), told)
    actions = codec.actions(_names(data_set, ACTION.key), np.asarray(columns[ACTION.key]))
    about: Mapping[str, Any] = {"task": info.task, "instruction": info.instruction, "driver": "person"}
    space = space_of(codec.robot, codec.action)
    keyframes = data_set.keyframes(index) if events is None else events.of_recorded(data_set, info)
    episode = demonstrated(about, states.astype(np.float32), actions.astype(np.float32), keyframes, space, person)
    wanted = set(episode.frames.tolist())
    pictures: dict[str, NDArray[np.uint8]] = {}
    for camera in cameras:
        shown = enumerate(data_set.frames(index, camera.view, camera.named))
        pictures[camera.view] = np.stack([trunk_picture(picture, size) for frame, picture in shown if frame in wanted])
    return replace(episode, pictures=pictures)


def _states(codec: Codec, names: Sequence[str], values: NDArray[Any], told: str) -> NDArray[Any]:
    expected = codec.state_names
    if codec.action is ActionType.JOINT_POSITION and names:
        try:
            return codec.actions(names, values)
        except CodecError:
            pass
    elif values.shape[1] == len(expected) and names in ((), expected):
        return values
    raise DataError(f"{told} has the state {', '.join(names) or values.shape[1]}: expected {', '.join(expected)}")
