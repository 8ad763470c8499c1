"""Rules of udev by which a USB device is known again, whichever order it was plugged in."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from kc_vla.machine.plan import SetupError, SetupStep
from kc_vla.machine.usb import UsbDevice

RULES = Path("etc/udev/rules.d")
"""Below the root of the file system."""
_PLAIN = re.compile(r"[\w.:+/=@ -]{1,126}", re.ASCII)
"""What a rule can name as it is: udev gives quotes, *, ?, [, | and \\ a meaning of their own."""


def matching(device: UsbDevice, alike: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return what a rule says of a device, and what a person sees of it.

    Args:
        device: that is meant.
        alike: whether another one that is plugged in has the same serial number.

    Raises:
        SetupError: what it says of itself cannot stand in a rule.
    """
    for text in (device.vendor, device.product, device.interface):
        if not _PLAIN.fullmatch(text):
            raise SetupError(f"a device that calls itself {text[:40]!r} cannot be recognized by a rule")
    kind = f'ATTRS{{idVendor}}=="{device.vendor}", ATTRS{{idProduct}}=="{device.product}"'
    if device.serial and not alike and _PLAIN.fullmatch(device.serial):
        return f'{kind}, ATTRS{{serial}}=="{device.serial}"', ()
    why = "another one has the same serial number" if device.serial and alike else "it has no serial number to go by"
    return f'KERNELS=="{device.interface}"', (f"{why}: it is known by its USB socket, {device.port}: leave it there",)


def reloading(trigger: str = "") -> tuple[SetupStep, ...]:
    """Return the steps after which new rules count; with the subsystem that is to be gone through again.

    Where udev is not there, as in a container, there are none: the rules then count where it is.
    """
    if shutil.which("udevadm") is None:
        return ()
    steps = [SetupStep(("udevadm", "control", "--reload"), True)]
    if trigger:
        steps.append(SetupStep(("udevadm", "trigger", "--action=change", f"--subsystem-match={trigger}"), True))
    return tuple(steps)
