"""The USB device behind something that the kernel lists in /sys: by its serial number it is known again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_MOST_BYTES = 4096


@dataclass(frozen=True)
class UsbDevice:
    """A device on a USB socket.

    Attributes:
        vendor, product: four hexadecimal digits each.
        serial: empty where it has none.
        port: name of the socket, e.g. "1-2.3"; it changes when the device is put into another one.
        interface: of the device, e.g. "1-2.3:1.0": one with two cameras has two.
    """

    vendor: str
    product: str
    serial: str
    port: str
    interface: str


def usb_device(entry: Path) -> UsbDevice | None:
    """Return the device behind an entry of /sys, e.g. /sys/class/net/can0; None if it is on no USB socket."""
    try:
        inner = (entry / "device").resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    for folder in (inner, *inner.parents):
        if vendor := attribute(folder / "idVendor"):
            product, serial = attribute(folder / "idProduct"), attribute(folder / "serial")
            below = inner.relative_to(folder).parts
            return UsbDevice(vendor, product, serial, folder.name, below[0] if below else folder.name)
    return None


def attribute(path: Path) -> str:
    """Return the text of an attribute in /sys, without blanks around it; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""
