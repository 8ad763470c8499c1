"""Which camera of a data set is which view: by the names that data sets give them, or as the user says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kc_vla.datasets.lerobot.errors import DataSetError

CALLED = {
    "third_person": ("third_person", "image", "exterior_image_1_left", "top", "front", "cam_high", "laptop"),
    "wrist": ("wrist", "wrist_image", "wrist_image_left", "hand", "gripper", "cam_right_wrist", "phone"),
}
"""What data sets call the cameras of the usual views; another one is called as its view, or has to be named."""


def find_camera(cameras: Sequence[str], view: str, named: str = "", taken: Iterable[str] = ()) -> str | None:
    """Return the key of the camera of a view; None where none of `cameras` is it.

    Args:
        cameras: keys of those that there are.
        view: its name.
        named: its key, or the end of it after the last full stop, where the user has said it.
        taken: keys that are other views.
    """
    if named in cameras:
        return named
    free = {key.rsplit(".", 1)[-1]: key for key in cameras if key not in set(taken)}
    return next((free[name] for name in ((named,) if named else CALLED.get(view, (view,))) if name in free), None)


def need_camera(cameras: Sequence[str], view: str, named: str, told: str) -> str:
    """Return the key of the camera of a view, as `find_camera`.

    Raises:
        DataSetError: there is none; the message begins with `told` and names those that there are.
    """
    key = find_camera(cameras, view, named)
    if key is None:
        raise DataSetError(f"{told} has no camera '{named or view}': it has {', '.join(cameras) or 'none'}")
    return key
