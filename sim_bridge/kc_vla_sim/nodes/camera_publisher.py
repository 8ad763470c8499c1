"""Publishes what simulated cameras see, and where they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import depth_message, image_message
from kc_vla_sim.frame import CameraModel, DepthImage
from kc_vla_sim.frame import Image as Pixels
from kc_vla_sim.nodes.messages import camera_info_of, camera_places_of


class CameraPublisher:
    """The images, depths, calibrations and places of the cameras of each view."""

    def __init__(self, node: StackNode, views: Sequence[str], depth: bool) -> None:
        """Advertise the topics.

        Args:
            node: that publishes.
            views: that there are.
            depth: whether depth is published, too.
        """
        self._images = {view: node.advertise(Image, topics.image_topic(view), qos.IMAGE) for view in views}
        deep = views if depth else ()
        self._depths = {view: node.advertise(Image, topics.depth_topic(view), qos.IMAGE) for view in deep}
        self._places = node.advertise(TFMessage, topics.CAMERA_PLACES, qos.STATUS)
        self._infos = {view: node.advertise(CameraInfo, topics.camera_info_topic(view), qos.STATE) for view in views}

    @property
    def watched(self) -> bool:
        """Return whether an image or a depth has a subscriber."""
        drawn = (*self._images.values(), *self._depths.values())
        return any(publisher.get_subscription_count() for publisher in drawn)

    def place(self, cameras: Iterable[CameraModel], stamp: Time) -> None:
        """Publish where the cameras are."""
        self._places.publish(camera_places_of(cameras, stamp))

    def show(
        self,
        images: Mapping[str, Pixels],
        depths: Mapping[str, DepthImage],
        cameras: Mapping[str, CameraModel],
        stamp: Time,
    ) -> None:
        """Publish what the cameras see.

        Args:
            images: of each view; one without pixels is left out.
            depths: of the views that have one.
            cameras: of each view.
            stamp: of the moment.
        """
        for view, model in cameras.items():
            info = camera_info_of(model)
            info.header.stamp = stamp
            self._infos[view].publish(info)
            if view in images and images[view].size:
                self._images[view].publish(image_message(images[view], stamp, model.frame))
            if view in depths and view in self._depths:
                self._depths[view].publish(depth_message(depths[view], stamp, model.frame))
