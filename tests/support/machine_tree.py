"""A /sys and a /dev of a machine that is not there, laid out as the kernel does: entries of a class are links."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Usb:
    """A device on a USB socket."""

    vendor: str
    product: str
    serial: str
    port: str


ADAPTER = Usb("1d50", "606f", "004B0033", "1-4")
CAMERA = Usb("046d", "082d", "A1B2C3", "1-2.3")


@dataclass(frozen=True)
class Tree:
    """The file system below `root`."""

    root: Path

    def net(self, name: str, kind: int = 280, up: bool = False, queue: int = 10, usb: Usb | None = None) -> None:
        """Add a network interface."""
        entry = self._entry("net", name, usb, f"net/{name}")
        for attribute, text in (("type", kind), ("flags", "0x41" if up else "0x40"), ("tx_queue_len", queue)):
            (entry / attribute).write_text(f"{text}\n")

    def video(self, number: int, card: str = "C920", index: int = 0, usb: Usb | None = None) -> None:
        """Add a V4L2 device."""
        entry = self._entry("video4linux", f"video{number}", usb, f"video4linux/video{number}")
        (entry / "name").write_text(f"{card}\n")
        (entry / "index").write_text(f"{index}\n")
        (self.root / "dev").mkdir(exist_ok=True)
        (self.root / f"dev/video{number}").touch()

    def _entry(self, kind: str, name: str, usb: Usb | None, inner: str) -> Path:
        device = self.root / "sys/devices" / (f"pci0/usb1/{usb.port}/{usb.port}:1.0" if usb else f"virtual-{name}")
        entry = device / inner
        entry.mkdir(parents=True)
        if usb:
            for attribute, text in (("idVendor", usb.vendor), ("idProduct", usb.product), ("serial", usb.serial)):
                if text:
                    (device.parent / attribute).write_text(f"{text}\n")
        (entry / "device").symlink_to(os.path.relpath(device, entry))
        listed = self.root / "sys/class" / kind
        listed.mkdir(parents=True, exist_ok=True)
        (listed / name).symlink_to(os.path.relpath(entry, listed))
        return entry


def ip_row(
    name: str, state: str = "ERROR-ACTIVE", bitrate: int = 1_000_000, restart_ms: int = 100, tx: int = 0
) -> dict[str, Any]:
    """What `ip -details -json link show` has of a CAN adapter, the parts that count."""
    data = {
        "state": state,
        "restart_ms": restart_ms,
        "berr_counter": {"tx": tx, "rx": 0},
        "bittiming": {"bitrate": bitrate, "sample_point": "0.875"},
    }
    return {"ifname": name, "flags": ["NOARP", "UP"], "linkinfo": {"info_kind": "can", "info_data": data}}
