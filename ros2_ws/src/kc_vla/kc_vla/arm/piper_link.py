"""The line to a Piper: the vendor's SDK takes the frames apart and sends them; how they are read is ours.

The SDK's own reading thread ends for good when the bus goes, its getters do not tell how old a message is, and it does
not see that another program commands the same arm. (A program on this machine that sends through the same SDK cannot be
seen by anyone: it keeps its frames from other listeners. That the arm goes elsewhere is seen in its angles.)
"""

from __future__ import annotations

import struct
import threading
import time

import can
import numpy as np
from piper_sdk import C_PiperInterface_V2, LogLevel

from kc_vla.arm.can_health import BusHealth
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper_firmware import FIRMWARE_FRAME, FirmwareText
from kc_vla.arm.piper_mit import MIT_FRAMES
from kc_vla.core.robot import Vector

_BITRATE = 1_000_000
_READ_S = 0.1
_COMMANDS = frozenset({0x151, 0x152, 0x153, 0x154, 0x155, 0x156, 0x157, 0x159, 0x470, 0x471}) | MIT_FRAMES
"""What only the one who commands the arm sends. Anyone may stop it (0x150) or ask it something."""


_STATUS, _MOVE_AT = 0x2A1, 2
"""The frame that has the kind of motion, and where in it; the SDK does not know all kinds."""
_FLANGE = (0x2A2, 0x2A3, 0x2A4)
"""The pose of the flange by the arm's own kinematics: 600 frames a second, of which only the latest are looked at."""
_PAIR = struct.Struct(">ii")
_METERS = 1e-6
"""Meters in a unit of the wire."""


class PiperLink(C_PiperInterface_V2):  # type: ignore[misc]
    """The SDK, and when each kind of frame last came from others; `open` comes first.

    Attributes:
        health: of the bus.
        firmware: the arm's latest answer to the question for it.
        move: number of the kind of motion that the arm reports; -1 before it has.
    """

    def __init__(self, channel: str) -> None:
        """Prepare. Args: `channel` of the bus. What the SDK would log for each frame that is lost, we say once."""
        super().__init__(channel, judge_flag=False, can_auto_init=False, logger_level=LogLevel.SILENT)

    def open(self, channel: str, kind: str) -> None:
        """Open the bus and begin to listen.

        Args:
            channel: of the bus.
            kind: python-can's name of it.

        Raises:
            ArmError: there is no such bus.
        """
        self._came: dict[int, float] = {}
        self._flange: dict[int, bytes] = {}
        self.firmware, self.move = FirmwareText(), -1
        self.health = BusHealth()
        self._reader: threading.Thread | None = None
        try:
            can.Bus(interface=kind, channel=channel).shutdown()  # the SDK would only print that there is none
        except (can.CanError, OSError) as error:
            raise ArmError(f"no CAN bus '{channel}': {error}; is the adapter there, and up at 1 Mbit/s?") from error
        self.CreateCanBus(channel, kind, _BITRATE, judge_flag=False)
        self.ConnectPort(piper_init=False, start_thread=False)
        self._listen()

    def close(self) -> None:
        """Listen no more."""
        self._stop_listening()
        if self.GetCanBus() is not None:
            self.DisconnectPort()

    @property
    def broken(self) -> bool:
        """Return whether the bus itself has gone, so that nothing will come until `reopen`."""
        return self._reader is None or not self._reader.is_alive()

    def reopen(self) -> bool:
        """Open a broken bus again; whether that could be done. What can be opened may still be down: see `broken`."""
        self._stop_listening()
        port = self.GetCanBus()
        port.Close()
        try:
            port.Init()
        except OSError:  # of an interface that is not there; the SDK expects other errors
            if port.recv_bus is not None:
                port.recv_bus.shutdown()
            port.recv_bus = port.send_bus = None
        if port.recv_bus is None:
            return False
        self.health = BusHealth(error_frames=self.health.error_frames)
        self._listen()
        return True

    def since(self, *frames: int) -> float:
        """Return seconds since the latest frames of these ids, the oldest of them; infinite if one never came."""
        now = time.monotonic()
        return max(now - self._came.get(number, -np.inf) for number in frames)

    def forget(self, frame: int) -> None:
        """Forget a frame, as if none of that id had ever come."""
        self._came.pop(frame, None)

    def ask_firmware(self) -> None:
        """Have the arm report its firmware anew."""
        self.firmware = FirmwareText(time.monotonic())
        self.SearchPiperFirmwareVersion()

    def send(self, number: int, data: bytes) -> None:
        """Send a frame that the SDK cannot make."""
        self.GetCanBus().SendCanMessage(number, data)

    def flange(self) -> Vector | None:
        """Return where the arm reports its flange, x, y, z, m (3,), in its base frame; None if it has not."""
        pieces = [self._flange.get(number, b"") for number in _FLANGE]
        if any(len(piece) != _PAIR.size for piece in pieces):
            return None
        return np.array([value for piece in pieces for value in _PAIR.unpack(piece)][:3]) * _METERS

    def since_foreign_command(self) -> float:
        """Return seconds since another program commanded the arm; infinite if none did."""
        return min(self.since(number) for number in _COMMANDS)

    def ParseCANFrame(self, rx_message: can.Message) -> None:  # noqa: N802
        """Take in a frame."""
        number, now = rx_message.arbitration_id, time.monotonic()
        if number in _FLANGE:
            self._flange[number] = bytes(rx_message.data)
        else:
            if number == FIRMWARE_FRAME:
                self.firmware.take(bytes(rx_message.data), now)
            elif number == _STATUS and len(rx_message.data) > _MOVE_AT:
                self.move = rx_message.data[_MOVE_AT]
            super().ParseCANFrame(rx_message)
        self._came[number] = now

    def _listen(self) -> None:
        self._ended = threading.Event()
        bus = self.GetCanBus().recv_bus
        self._reader = threading.Thread(target=self._read, args=(bus, self._ended), name="piper", daemon=True)
        self._reader.start()

    def _stop_listening(self) -> None:
        if self._reader is not None:
            self._ended.set()
            self._reader.join()

    def _read(self, bus: can.BusABC, ended: threading.Event) -> None:
        while not ended.is_set():
            try:
                message = bus.recv(_READ_S)
            except (can.CanError, OSError):
                self.health = self.health.gone()
                return  # seen by `broken`
            if message is None:
                continue
            if message.is_error_frame:  # its id is a set of bits, which may look like one of the arm's
                self.health = self.health.after(message.arbitration_id, bytes(message.data))
            else:
                self.ParseCANFrame(message)
