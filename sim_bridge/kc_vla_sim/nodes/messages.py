"""From the simulator's plain objects to messages."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import Vector3
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, JointState
from tf2_msgs.msg import TFMessage

from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.urdf import Placed
from kc_vla.media.images import jpeg
from kc_vla.memory.images.crop import CropError, cropped, projected_box
from kc_vla.ros.convert import attributes_message, joint_message, pose_message
from kc_vla.ros.transforms import transforms_message
from kc_vla_msgs.msg import EpisodeResult, EpisodeStatus, ObjectDetection, ObjectDetections
from kc_vla_sim.frame import BASE_FRAME, CameraModel, Pose, SimulatedFrame
from kc_vla_sim.protocol import Simulation

_CROP_PX, _MARGIN = 128, 0.1
"""Longest side of a crop, and what of the surroundings is on each side of it, as a share of the box."""


def pose_of(pose: Pose) -> PoseMessage:
    """Return a pose message."""
    return pose_message([*pose.position, *pose.quaternion])


def camera_info_of(camera: CameraModel) -> CameraInfo:
    """Return the calibration of a simulated camera: no distortion, no rectification."""
    k = [value for row in camera.k for value in row]
    info = CameraInfo(
        width=camera.width,
        height=camera.height,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=k,
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[*k[0:3], 0.0, *k[3:6], 0.0, *k[6:9], 0.0],
    )
    info.header.frame_id = camera.frame
    return info


def camera_places_of(cameras: Iterable[CameraModel], stamp: Time) -> TFMessage:
    """Return where the cameras are, each in the frame that it is fixed to."""
    placed = [
        Placed(camera.parent, camera.frame, pose_matrix(camera.pose.position, camera.pose.quaternion))
        for camera in cameras
    ]
    return transforms_message(placed, stamp)


def joints_of(frame: SimulatedFrame, stamp: Time) -> JointState:
    """Return the joint state of a frame."""
    return joint_message(frame.joint_names, frame.joint_positions, frame.joint_velocities, stamp)


def detections_of(frame: SimulatedFrame, episode_id: str, stamp: Time) -> ObjectDetections:
    """Return the objects of a frame, as the simulator knows them, in the robot's base frame."""
    message = ObjectDetections(episode_id=episode_id)
    message.header.stamp, message.header.frame_id = stamp, BASE_FRAME
    for found in frame.detections:
        message.detections.append(
            ObjectDetection(
                object_id=found.object_id,
                object_type=found.object_type,
                state=found.state,
                pose=pose_of(found.pose),
                size=Vector3(x=found.size[0], y=found.size[1], z=found.size[2]),
                confidence=1.0,
                attributes=attributes_message(found.attributes),
            )
        )
    return message


def add_crops(message: ObjectDetections, pixels: NDArray[np.uint8], camera: CameraModel) -> None:
    """Give each detection what a camera that is fixed to the base shows of it, as JPEG; one out of view stays without.

    Args:
        message: of detections in the base frame.
        pixels: (H, W, 3) uint8, RGB, of that moment.
        camera: that shows them.
    """
    place, matrix = pose_matrix(camera.pose.position, camera.pose.quaternion), np.array(camera.k)
    for each in message.detections:
        at, turn, size = each.pose.position, each.pose.orientation, each.size
        pose = pose_matrix((at.x, at.y, at.z), (turn.x, turn.y, turn.z, turn.w))
        try:
            box = projected_box(pose, (size.x, size.y, size.z), place, matrix, (camera.width, camera.height))
            each.image = jpeg(cropped(pixels, box, _MARGIN), _CROP_PX)
        except CropError:  # it is not in view
            continue


def result_of(
    frame: SimulatedFrame, status: EpisodeStatus, simulator: Simulation, reason: str, judged: bool = True
) -> EpisodeResult:
    """Return how an episode ended, at its last frame; without stages where the task's are not what was to be done."""
    assert simulator.task is not None
    stages = simulator.task.stages if judged else ()
    return EpisodeResult(
        episode_id=status.episode_id,
        task=status.task,
        seed=status.seed,
        success=judged and frame.success,
        completion_rate=frame.completed_stages / len(stages) if stages else float(judged and frame.success),
        stages=list(stages),
        completed_stages=frame.completed_stages if judged else 0,
        reason=reason,
        steps=frame.index,
        oracle_frames=[keyframe.frame for keyframe in simulator.keyframes],
        oracle_labels=[keyframe.label for keyframe in simulator.keyframes],
    )
