"""The cameras of the machine: V4L2 devices that give images."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kc_vla.machine.usb import UsbDevice, attribute, usb_device
from kc_vla.machine.v4l2 import Capabilities, capabilities

_MOST_TOLD = 4
Ask = Callable[[Path], Capabilities]


@dataclass(frozen=True)
class VideoDevice:
    """A V4L2 device.

    Attributes:
        path: e.g. /dev/video0.
        card: name of the camera.
        index: of the device among those of one camera.
        usb: where it is on USB.
        can: what it says that it can do; None where it could not be asked.
        trouble: why not.
    """

    path: Path
    card: str
    index: str
    usb: UsbDevice | None
    can: Capabilities | None
    trouble: str = ""

    def formats(self) -> str:
        """Return its formats, with the largest images of each, for a line."""
        told = []
        for one in self.can.formats if self.can else ():
            largest = max(one.sizes, key=lambda size: size.width * size.height, default=None)
            size = "" if largest is None else f" to {largest.width}x{largest.height}"
            rate = "" if largest is None or not largest.fps else f" at {largest.fps:.3g}/s"
            told.append(f"{one.code}{size}{rate}")
        more = f" and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
        return ", ".join(told[:_MOST_TOLD]) + more


def video_devices(root: Path = Path("/"), ask: Ask = capabilities) -> list[VideoDevice]:
    """Return the devices that give images, and those that could not be asked, in the order of their numbers.

    Args:
        root: what /sys and /dev are below.
        ask: asks a device what it can do.
    """
    try:
        entries = [entry for entry in (root / "sys/class/video4linux").iterdir() if entry.name.startswith("video")]
    except OSError:
        return []
    devices = [_device(entry, root, ask) for entry in sorted(entries, key=_order)]
    return [device for device in devices if device.can is None or device.can.captures]


def _device(entry: Path, root: Path, ask: Ask) -> VideoDevice:
    path = root / "dev" / entry.name
    card, index, usb = attribute(entry / "name"), attribute(entry / "index"), usb_device(entry)
    try:
        return VideoDevice(path, card, index, usb, ask(path))
    except OSError as error:
        return VideoDevice(path, card, index, usb, None, _trouble(error))


def _trouble(error: OSError) -> str:
    if error.errno in (errno.EACCES, errno.EPERM):
        return "may not be opened"
    return error.strerror or str(error)


def _order(entry: Path) -> tuple[int, str]:
    digits = entry.name.removeprefix("video")
    return (int(digits) if digits.isdecimal() else 1 << 30, entry.name)
