"""Makes a CAN interface ready for an arm: bit rate, coming back after a bus-off, room for frames, up; and its name."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from kc_vla.arm.can_health import BITRATE, RESTART_MS, BusState
from kc_vla.arm.claim import is_claimed
from kc_vla.machine.can_interfaces import Ask, CanInterface, can_interfaces
from kc_vla.machine.commands import answer_of
from kc_vla.machine.own_files import writing_ours
from kc_vla.machine.plan import SetupError, SetupPlan, SetupStep
from kc_vla.machine.udev import RULES, matching, reloading

QUEUE = 1000
"""Frames that may wait for the bus: the kernel's own 10 is less than an arm is sent at once."""
_LONGEST_NAME = 15


@dataclass(frozen=True)
class CanSettings:
    """How an interface shall be.

    Attributes:
        bitrate: bit/s.
        restart_ms: after so long it comes back from bus-off by itself; 0: never.
        queue: frames that may wait (txqueuelen).
    """

    bitrate: int = BITRATE
    restart_ms: int = RESTART_MS
    queue: int = QUEUE


def plan_can(name: str, settings: CanSettings, root: Path = Path("/"), ask: Ask = answer_of) -> SetupPlan:
    """Return what is to be done so that an interface is as it shall be; nothing where it is.

    Args:
        name: of the interface; empty: the only one there is.
        settings: how it shall be.
        root: what /sys is below.
        ask: runs a program and returns what it prints.

    Raises:
        SetupError: there is no such interface, `ip` does not tell how it is, or it would be taken from a running arm.
    """
    interface = chosen(name, root, ask)
    link = ("ip", "link", "set", interface.name)
    queue = () if interface.queue == settings.queue else (_root(*link, "txqueuelen", str(settings.queue)),)
    if interface.virtual:
        steps = (*queue, *(() if interface.up else (_root(*link, "up"),)))
        return SetupPlan(steps, (f"{interface.name} is {interface.told()}: it has no bit rate",))
    details = interface.details
    off = details.health is not None and details.health.state is BusState.OFF and interface.up
    if not off and (details.bitrate, details.restart_ms) == (settings.bitrate, settings.restart_ms):
        steps = (*queue, *(() if interface.up else (_root(*link, "up"),)))
        told = f"{interface.name} is {interface.told()}" + ("" if steps else ", as it should be")
        return SetupPlan(steps, (told,))
    if is_claimed(interface.name, root):
        raise SetupError(f"a controller drives the arm on {interface.name}: end it (Ctrl-C parks the arm), then again")
    down = (_root(*link, "down"),) if interface.up else ()
    careful = ("CAREFUL: it is taken down for a moment: park the arm and end what uses it first",) if down else ()
    rate = ("type", "can", "bitrate", str(settings.bitrate), "restart-ms", str(settings.restart_ms))
    return SetupPlan(
        (*down, _root(*link, *rate), *queue, _root(*link, "up")), (f"{interface.name} is {interface.told()}", *careful)
    )


def plan_can_name(
    name: str,
    new: str,
    settings: CanSettings,
    root: Path = Path("/"),
    replace: bool = False,
    ask: Ask = answer_of,
    ip: str | None = None,
) -> SetupPlan:
    """Return what is to be done so that an adapter has a name of its own, and is ready whenever it is plugged in.

    Args:
        name: of the interface as it is; empty: the only one there is.
        new: its name to be.
        settings: how it shall be.
        root: what /sys and /etc are below.
        replace: take the place of a file of another hand.
        ask: runs a program and returns what it prints.
        ip: path of that program; None: where it is found.

    Raises:
        SetupError: no such interface, a name that cannot be, or an adapter that is not known again.
    """
    if not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{_LONGEST_NAME - 1}}}", new) or re.fullmatch(r"v?x?can\d+", new):
        raise SetupError(
            f"an interface cannot be called '{new[:40]}': take up to {_LONGEST_NAME} of a-z, 0-9 and _, beginning with "
            "a letter, and not the kernel's own can0, can1 ..."
        )
    interface = chosen(name, root, ask)
    if interface.usb is None:
        raise SetupError(f"{interface.name} is no USB adapter: it has no serial number to recognize it by")
    match, told = matching(interface.usb)
    program = ip or shutil.which("ip") or "/usr/sbin/ip"
    up = f"{program} link set {new} up txqueuelen {settings.queue} type can bitrate {settings.bitrate}"
    rule = f'ACTION=="add", SUBSYSTEM=="net", ATTR{{type}}=="280", {match}, NAME="{new}", '
    rule += f'RUN+="{up} restart-ms {settings.restart_ms}"\n'
    plan = writing_ours(root / RULES / f"70-kc-vla-can-{new}.rules", rule, replace)
    if not plan.steps:
        return plan
    after = (f"pull the adapter out and put it in again: then it is called {new}, can:={new}",)
    return SetupPlan((*plan.steps, *reloading()), (*told, *plan.told), after)


def chosen(name: str, root: Path, ask: Ask) -> CanInterface:
    """Return the interface called `name`, or the only one; SetupError with those that there are."""
    interfaces, trouble = can_interfaces(root, ask)
    there = ", ".join(f"{one.name} ({one.told()})" for one in interfaces)
    if not interfaces:
        which = f"no CAN interface '{name}', and no other" if name else "no CAN interface"
        raise SetupError(f"{which}: plug the adapter in (`lsusb` shows it; most need the module gs_usb)")
    if not name and len(interfaces) > 1:
        raise SetupError(f"several CAN interfaces: name one of {there}")
    found = next((one for one in interfaces if one.name == name or not name), None)
    if found is None:
        raise SetupError(f"no CAN interface '{name}': there is {there}")
    if trouble:
        raise SetupError(f"how {found.name} is set cannot be read: {trouble}: apt-get install iproute2")
    return found


def _root(*words: str) -> SetupStep:
    return SetupStep(words, True)
