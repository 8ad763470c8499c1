"""Gives a camera a name that stays: /dev/kc_vla/<name>, by its serial number."""

from __future__ import annotations

import re
from pathlib import Path

from kc_vla.machine.own_files import writing_ours
from kc_vla.machine.plan import SetupError, SetupPlan
from kc_vla.machine.udev import RULES, matching, reloading
from kc_vla.machine.v4l2 import capabilities
from kc_vla.machine.video_devices import Ask, VideoDevice, video_devices


def plan_camera(
    name: str, device: str = "", root: Path = Path("/"), replace: bool = False, ask: Ask = capabilities
) -> SetupPlan:
    """Return what is to be done so that a camera is found as /dev/kc_vla/<name>; nothing where it is.

    Args:
        name: e.g. that of the robot's view.
        device: as it is called now, "/dev/video2", "video2" or "2"; empty: the only camera there is.
        root: what /sys, /dev and /etc are below.
        replace: take the place of a file of another hand.
        ask: asks a device what it can do.

    Raises:
        SetupError: no such camera, a name that cannot be, or a camera that is not known again.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name):
        raise SetupError(f"a camera cannot be called '{name[:40]}': take a-z, 0-9 and _, beginning with a letter")
    devices = video_devices(root, ask)
    found = _chosen(device, devices)
    if found.usb is None:
        raise SetupError(f"{found.path} is no USB camera: its name does not change")
    twins = [one for one in devices if one.usb and one.index == found.index and one.usb.serial == found.usb.serial]
    match, told = matching(found.usb, alike=len(twins) > 1)
    index = f'ATTR{{index}}=="{found.index}", ' if found.index.isdecimal() else ""
    rule = f'SUBSYSTEM=="video4linux", {index}{match}, SYMLINK+="kc_vla/{name}"\n'
    plan = writing_ours(root / RULES / f"70-kc-vla-camera-{name}.rules", rule, replace)
    what = f"{found.path} is {found.card or 'a camera without a name'}"
    if not plan.steps:
        return SetupPlan(told=(what, *plan.told))
    after = (f"then, in the file for cameras:=, it is source: /dev/kc_vla/{name}",)
    return SetupPlan((*plan.steps, *reloading("video4linux")), (what, *told, *plan.told), after)


def _chosen(device: str, devices: list[VideoDevice]) -> VideoDevice:
    there = ", ".join(f"{one.path.name} ({one.card})" for one in devices)
    if not devices:
        raise SetupError(f"no camera{f' {device!r}, and no other' if device else ''}: plug it in")
    if not device and len(devices) > 1:
        raise SetupError(f"several cameras: name one with --device, of {there}")
    wanted = f"video{device}" if device.isdecimal() else Path(device).name
    found = next((one for one in devices if one.path.name == wanted or not device), None)
    if found is None:
        raise SetupError(f"no camera '{device}': there is {there}")
    return found
