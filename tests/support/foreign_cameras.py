"""Two cameras of others as a node: a depth camera that gives bgr8 with its lens and depth, and one that gives JPEG."""

from __future__ import annotations

import cv2
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from spinning import init, spin_until_interrupted

RATE = 30.0
HEIGHT, WIDTH = 48, 64
COLOUR, INFO, DEPTH = "/camera/color/image_raw", "/camera/color/camera_info", "/camera/depth/image_raw"
JPEG = "/usb_cam/image_raw/compressed"
RED, BLUE = (220, 30, 10), (20, 90, 200)
"""RGB of what each of them sees."""
DISTANCES = (np.arange(HEIGHT * WIDTH) * 17 % 65536).astype("<u2")
"""mm, that the depth camera measures."""


class ForeignCameras(Node):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("foreign_cameras")
        reliable = QoSProfile(depth=5)
        self._colour = self.create_publisher(Image, COLOUR, reliable)
        self._info = self.create_publisher(CameraInfo, INFO, reliable)
        self._depth = self.create_publisher(Image, DEPTH, reliable)
        self._jpeg = self.create_publisher(CompressedImage, JPEG, qos_profile_sensor_data)
        bgr = np.full((HEIGHT, WIDTH, 3), RED[::-1], np.uint8)
        done, packed = cv2.imencode(".jpg", np.full((HEIGHT, WIDTH, 3), BLUE[::-1], np.uint8))
        assert done
        self._picture = Image(height=HEIGHT, width=WIDTH, step=WIDTH * 3, encoding="bgr8", data=bgr.tobytes())
        self._distances = Image(height=HEIGHT, width=WIDTH, step=WIDTH * 2, encoding="16UC1", data=DISTANCES.tobytes())
        self._packed = CompressedImage(format="bgr8; jpeg compressed bgr8", data=packed.tobytes())
        self._lens = CameraInfo(height=HEIGHT, width=WIDTH, distortion_model="plumb_bob", d=[0.0] * 5)
        self._lens.k = [60.0, 0.0, 32.0, 0.0, 60.0, 24.0, 0.0, 0.0, 1.0]
        self.create_timer(1.0 / RATE, self._see)

    def _see(self) -> None:
        stamp = self.get_clock().now().to_msg()
        for message in (self._picture, self._distances, self._packed, self._lens):
            message.header.stamp, message.header.frame_id = stamp, "camera_color_optical_frame"
        self._info.publish(self._lens)
        self._colour.publish(self._picture)
        self._depth.publish(self._distances)
        self._jpeg.publish(self._packed)


def main() -> None:
    """Run them until they are told to end."""
    init()
    spin_until_interrupted(ForeignCameras())
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
