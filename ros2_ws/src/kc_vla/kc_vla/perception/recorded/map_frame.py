"""Which frame the objects of a bag are located in, where a user names none."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.core.frame_tree import FrameTree, UnknownFrameError, WrongTransformError, placed_frames
from kc_vla.core.stamps import nanoseconds
from kc_vla.core.urdf import Placed
from kc_vla.perception.recorded.camera_topics import RecordedCamera
from kc_vla.perception.recorded.recorded_frames import TRANSFORMS

BASE_FRAME = "robot_base"
MAPS = (BASE_FRAME, "map", "world", "odom", "base_link", "base")
"""Frames that objects can be located in, the first one first: they do not move, or the arm stands on them."""
_MOST_READ = 300
"""Messages of each topic of transforms that are read to know the frames."""


def map_frame(reader: BagReader, cameras: Sequence[RecordedCamera], placed: Sequence[Placed]) -> str:
    """Return the frame of the map: the first of `MAPS` that all of the cameras hang on.

    Args:
        reader: of the bag.
        cameras: that are looked at.
        placed: what calibration files place.

    Raises:
        BagReadError: There is none, in one line that names the frames that are there.
    """
    tree = FrameTree(placed)
    names = [name for name, topic in reader.topics().items() if topic.type == TRANSFORMS and topic.count]
    for refs in reader.index(names).values() if names else ():
        for ref in refs[:_MOST_READ]:
            try:
                message = reader.decode(reader.load(ref))
                for each, told in zip(placed_frames(message), message.transforms, strict=True):
                    tree.put([each], nanoseconds(told.header.stamp))
            except (BagReadError, WrongTransformError):
                continue  # the reading of the images says so
    chains = []
    for topic in dict.fromkeys(each.images for each in cameras):
        refs = reader.index([topic]).get(topic, [])
        frame = reader.decode(reader.load(refs[0])).header.frame_id
        try:
            chains.append(tree.above(frame))
        except UnknownFrameError as error:
            raise BagReadError(f"{reader.path}: {error}") from error
    for name in MAPS:
        if all(name in chain for chain in chains):
            return name
    longest = max(chains, key=len)
    if len(longest) == 1:
        raise BagReadError(
            f"{reader.path} has no transform of '{longest[0]}', the frame of the images: name the file of the camera's "
            "place with --camera, or record /tf and /tf_static"
        )
    raise BagReadError(
        f"{reader.path} has the camera in the frames {', '.join(longest)}, and none of them is {' or '.join(MAPS)}: "
        "name the one that does not move with --frame, or the file of the camera's place with --camera"
    )
