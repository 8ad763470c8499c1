"""The CAN interfaces of the machine: which there are, and how `ip` says that they are set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.arm.can_health import BusHealth, BusState
from kc_vla.core.untrusted import parsed_json
from kc_vla.machine.commands import CommandError, answer_of
from kc_vla.machine.usb import UsbDevice, attribute, usb_device

_CAN = "280"
"""ARPHRD_CAN of linux/if_arp.h."""
_UP = 0x1
_STATES = {str(state): state for state in BusState} | {"stopped": BusState.GONE, "sleeping": BusState.GONE}
Ask = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class CanDetails:
    """The report of `ip` on an interface; None for each value that it does not report.

    Attributes:
        kind: "can" for an adapter, "vcan" or "vxcan" for none.
        health: of the bus.
        bitrate: bit/s.
        restart_ms: after so long it comes back from bus-off by itself; 0: never.
    """

    kind: str = ""
    health: BusHealth | None = None
    bitrate: int | None = None
    restart_ms: int | None = None


@dataclass(frozen=True)
class CanInterface:
    """A CAN interface.

    Attributes:
        name: e.g. "can0".
        up: whether it is.
        queue: frames that wait for the bus at most (txqueuelen); None where it is not known.
        usb: the adapter, where it is on USB.
        details: what `ip` tells.
    """

    name: str
    up: bool
    queue: int | None
    usb: UsbDevice | None
    details: CanDetails

    @property
    def virtual(self) -> bool:
        """Return whether there is no adapter, and no bit rate."""
        return self.details.kind in ("vcan", "vxcan")

    def told(self) -> str:
        """Return the state in a few words."""
        if self.virtual:
            return f"virtual, {'up' if self.up else 'down'}"
        if not self.up:
            return "down"
        rate = "" if self.details.bitrate is None else f" at {self.details.bitrate / 1e6:g} Mbit/s"
        health = self.details.health
        return f"up{rate}" + ("" if health is None else f", {health.state}")


def can_interfaces(root: Path = Path("/"), ask: Ask = answer_of) -> tuple[list[CanInterface], str]:
    """Return all CAN interfaces by name, and why `ip` cannot say more of them; empty if it can.

    Args:
        root: what /sys is below.
        ask: runs a program and returns what it prints.
    """
    folder = root / "sys/class/net"
    entries = sorted(entry for entry in _entries(folder) if attribute(entry / "type") == _CAN)
    details: Mapping[str, CanDetails] = {}
    trouble = ""
    if entries:
        try:
            details = parse_details(ask(["ip", "-details", "-json", "link", "show"]))
        except (CommandError, ValueError) as error:
            trouble = str(error)
    return [_interface(entry, details.get(entry.name, CanDetails())) for entry in entries], trouble


def parse_details(text: str) -> dict[str, CanDetails]:
    """Return what `ip -details -json link show` says, by the interfaces' names.

    Raises:
        ValueError: it is not what that program prints.
    """
    rows = parsed_json(text)
    if not isinstance(rows, list):
        raise ValueError("'ip -json link show' did not answer with a list: is it iproute2's?")
    return {
        row["ifname"]: _details(_mapping(row.get("linkinfo")))
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("ifname"), str)
    }


def _details(info: Mapping[str, Any]) -> CanDetails:
    kind, data = info.get("info_kind"), _mapping(info.get("info_data"))
    counters = _mapping(data.get("berr_counter"))
    state = _STATES.get(str(data.get("state", "")).lower())
    health = None if state is None else BusHealth(state, _number(counters, "tx") or 0, _number(counters, "rx") or 0)
    bitrate = _number(_mapping(data.get("bittiming")), "bitrate")
    return CanDetails(kind if isinstance(kind, str) else "", health, bitrate, _number(data, "restart_ms"))


def _interface(entry: Path, details: CanDetails) -> CanInterface:
    flags, queue = attribute(entry / "flags"), attribute(entry / "tx_queue_len")
    try:
        up = bool(int(flags, 16) & _UP)
    except ValueError:
        up = False
    return CanInterface(entry.name, up, int(queue) if queue.isdecimal() else None, usb_device(entry), details)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
