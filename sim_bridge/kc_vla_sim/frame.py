"""What the simulator shows of one moment, and how its cameras see. All poses are in the robot's base frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.views import Views
from kc_vla_sim.robot import ROBOT

Image = NDArray[np.uint8]
DepthImage = NDArray[np.float32]

BASE_FRAME, TOOL_FRAME = ROBOT.base_frame, ROBOT.tool_frame

MILLIMETER = 0.001
"""The shaders give positions in whole millimeters."""


@dataclass(frozen=True)
class Pose:
    """A place and a turn: meters and a unit quaternion x, y, z, w."""

    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]


@dataclass(frozen=True)
class GroundTruthObject:
    """One object as the simulator knows it.

    Attributes:
        object_id: stable within an episode, e.g. "cube".
        object_type: its class, e.g. "cube".
        state: e.g. "on", "off"; empty if it has none.
        pose: its center.
        size: extent along the axes of that pose, m.
        attributes: what else there is to tell, e.g. its "color".
    """

    object_id: str
    object_type: str
    state: str
    pose: Pose
    size: tuple[float, float, float]
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class VisibleObject:
    """What a camera sees of an object.

    Attributes:
        pixels: how many show it.
        share: of its silhouette that can be seen, 0..1; the silhouette is that of the object's convex hull, so that
            hollows in its outline make it less than 1.
        box: first column and row, and those after the last, of these pixels.
    """

    pixels: int
    share: float
    box: tuple[int, int, int, int]


@dataclass(frozen=True)
class CameraModel:
    """Where a camera is and how it projects, without distortion.

    Attributes:
        frame: name of its optical frame (x right, y down, z forward).
        parent: name of the frame that `pose` is in: the robot's base, or the tool.
        pose: pose of the optical frame in `parent`; it does not change within an episode.
        k: intrinsic matrix (3, 3), row by row, pixels.
    """

    width: int
    height: int
    frame: str
    parent: str
    pose: Pose
    k: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class GroundTruthKeyframe:
    """A ground-truth keyframe: the frame and the label of the task table."""

    frame: int
    label: str


@dataclass(frozen=True)
class SimulatedFrame:
    """Everything at one moment; frame 0 is the observation at reset, frame k the one after k control steps.

    Attributes:
        index: of this frame.
        views: what each camera shows; images of (0, 0, 3) if the simulator does not draw.
        joint_names: seven arm joints and two fingers.
        joint_positions: (9,), rad and m.
        joint_velocities: (9,), rad/s and m/s.
        tool_pose: tool center point.
        detections: the objects of the task.
        keyframe: label of the ground-truth keyframe that this frame is, or None.
        done: the episode is over.
        success: it ended well.
        reason: why it ended, "success" or the failure in the task's own words; empty before.
        completed_stages: how many stages of the task were reached, in order.
        keyframe_index: which of the task's keyframes that is; 0 where it is none, too.
        depth: of each view, along the optical axis (H, W), m, 0 where there is nothing; empty unless it is asked for.
        visible: by view, what it shows of each object that it shows; empty where it is not drawn, and in tasks that
            do not say.
    """

    index: int
    views: Views
    joint_names: tuple[str, ...]
    joint_positions: NDArray[np.float64]
    joint_velocities: NDArray[np.float64]
    tool_pose: Pose
    detections: tuple[GroundTruthObject, ...]
    keyframe: str | None
    done: bool
    success: bool
    reason: str
    completed_stages: int
    keyframe_index: int = 0
    depth: Mapping[str, DepthImage] = field(default_factory=dict)
    visible: Mapping[str, Mapping[str, VisibleObject]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Capture:
    """One rendering of a camera.

    Attributes:
        image: colors (H, W, 3).
        depth: along the optical axis (H, W), m; 0 where there is nothing.
        bodies: number of the body in each pixel (H, W), int16; 0 where there is none.
    """

    image: Image
    depth: DepthImage
    bodies: NDArray[np.int16]


def capture_of(sensor: Any) -> Capture:
    """Read what a camera of ManiSkill has just taken."""
    seen = sensor.get_obs(rgb=True, depth=True, position=False, segmentation=True)
    image, depth, bodies = (
        np.ascontiguousarray(seen[name][0].cpu().numpy()) for name in ("rgb", "depth", "segmentation")
    )
    return Capture(image, depth[..., 0].astype(np.float32) * np.float32(MILLIMETER), bodies[..., 0])
