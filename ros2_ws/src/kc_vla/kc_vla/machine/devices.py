"""Looks at what is plugged in: CAN interfaces and their buses, cameras and their formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from kc_vla.arm.can_health import BITRATE, BusState, advice
from kc_vla.machine.can_interfaces import CanInterface, can_interfaces
from kc_vla.machine.finding import Finding, Level
from kc_vla.machine.video_devices import VideoDevice, video_devices


def look_at_can(
    root: Path = Path("/"), found: Callable[[Path], tuple[list[CanInterface], str]] = can_interfaces
) -> list[Finding]:
    """Return a line for each CAN interface."""
    interfaces, trouble = found(root)
    if not interfaces:
        do = "plug the adapter in (`lsusb` shows it; most need the module gs_usb); without one an emulated Piper moves"
        return [Finding("CAN", Level.WARN, "no CAN interface", do)]
    lines = [_of_interface(interface) for interface in interfaces]
    if trouble:
        lines.append(Finding("CAN", Level.WARN, f"bus and bit rate are unknown: {trouble}", "apt-get install iproute2"))
    return lines


def _of_interface(interface: CanInterface) -> Finding:
    name, told, details = f"CAN {interface.name}", interface.told(), interface.details
    facts = {
        "interface": interface.name,
        "up": interface.up,
        "virtual": interface.virtual,
        "queue": interface.queue,
        "bitrate": details.bitrate,
        "restart_ms": details.restart_ms,
        "state": None if details.health is None else str(details.health.state),
        "serial": interface.usb.serial if interface.usb else None,
    }
    set_up = f"kc-vla setup can {interface.name} --do"
    if not interface.up:
        return Finding(name, Level.WARN, told, set_up, facts)
    if interface.virtual:
        return Finding(name, Level.OK, told, facts=facts)
    if details.bitrate not in (None, BITRATE):
        return Finding(name, Level.WARN, f"{told}; a Piper speaks at {BITRATE / 1e6:g} Mbit/s", set_up, facts)
    if details.health is not None and details.health.state is not BusState.ACTIVE:
        level = Level.FAIL if details.health.state is BusState.OFF else Level.WARN
        return Finding(name, level, told, advice(details.health, interface.name, lambda _: True), facts)
    if details.restart_ms == 0:
        return Finding(name, Level.WARN, f"{told}; it stays off after a bus-off", set_up, facts)
    return Finding(name, Level.OK, told, facts=facts)


def look_at_cameras(
    root: Path = Path("/"), found: Callable[[Path], list[VideoDevice]] = video_devices
) -> list[Finding]:
    """Return a line for each camera."""
    devices = found(root)
    if not devices:
        do = "plug one in; without, piper.launch.py plays recorded videos, or name a driver's topic (docs/cameras.md)"
        return [Finding("cameras", Level.WARN, "no V4L2 camera", do)]
    return [_of_camera(device) for device in devices]


def _of_camera(device: VideoDevice) -> Finding:
    name = f"camera {device.path.name}"
    facts = {
        "path": str(device.path),
        "card": device.card,
        "serial": device.usb.serial if device.usb else None,
        "port": device.usb.port if device.usb else None,
        "formats": [asdict(one) for one in device.can.formats] if device.can else None,
    }
    if device.can is None:
        do = (
            "add this user to the group 'video' and log in again" if "may not" in device.trouble else "plug it in again"
        )
        return Finding(name, Level.WARN, f"{device.card}: {device.trouble}", do, facts)
    card = device.can.card or device.card
    if not device.can.formats:
        return Finding(name, Level.WARN, f"{card}: names no format", "plug it in again, or take another", facts)
    return Finding(name, Level.OK, f"{card}: {device.formats()}", facts=facts)
