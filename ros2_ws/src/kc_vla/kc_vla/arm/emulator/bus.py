"""A CAN bus that needs no kernel module: a Unix socket of packets, one frame each, and a python-can interface to it.

`can.Bus(interface="kc_vla_socket", channel=PATH)`, and so the vendor's SDK, reach whatever `BusServer` serves at PATH.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import can

from kc_vla.arm.emulator.frames import Frame

INTERFACE = "kc_vla_socket"
ERROR = 0x20000000
"""Bit in the id of a frame that reports the state of the bus itself, as on socketcan."""
_ID = 0x7FF
_PACKET = struct.Struct(">IB8s")
"""Id, number of bytes with perhaps `_NO_LOOPBACK`, bytes."""
_NO_LOOPBACK = 0x80
"""Mark of a frame for the arm alone: as on socketcan, a sender may keep its frames from the other local listeners."""
_MARK_AT = 4
_BUFFER = 1 << 18
"""Bytes that a listener may be behind before frames are lost to it, about a second of feedback."""


class SocketBus(can.BusABC):
    """The end of a listener or sender."""

    def __init__(self, channel: Any, can_filters: Any = None, local_loopback: bool = True, **options: Any) -> None:
        """Connect to the socket at the path `channel`.

        Args:
            channel: path of the socket.
            can_filters: of python-can.
            local_loopback: whether the other ends see what is sent here, too.
            options: of python-can.

        Raises:
            OSError: nobody serves it; python-can's socketcan, too, raises this for an interface that is not there.
        """
        self._mark = 0 if local_loopback else _NO_LOOPBACK
        self.channel_info = f"emulated CAN bus at {channel}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.connect(str(channel))
        except OSError as error:
            self._socket.close()
            raise OSError(error.errno, f"no emulated CAN bus at {channel}: {error.strerror}") from error
        super().__init__(channel=channel, can_filters=can_filters, **options)

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        """Send a frame.

        Raises:
            can.CanOperationError: the bus is gone.
        """
        try:
            self._socket.send(_packed(Frame(msg.arbitration_id, bytes(msg.data)), self._mark))
        except OSError as error:
            raise can.CanOperationError(f"{self.channel_info} is gone: {error.strerror}") from error

    def shutdown(self) -> None:
        """Leave the bus."""
        super().shutdown()
        self._socket.close()

    def _recv_internal(self, timeout: float | None) -> tuple[can.Message | None, bool]:
        try:
            if not select.select([self._socket], [], [], timeout)[0]:
                return None, False
            packet = self._socket.recv(_PACKET.size)
        except OSError as error:
            raise can.CanOperationError(f"{self.channel_info} is gone: {error.strerror}") from error
        if not packet:
            raise can.CanOperationError(f"{self.channel_info} is gone: it was closed")
        frame = _unpacked(packet)
        message = can.Message(
            timestamp=time.time(),
            arbitration_id=frame.id & _ID,
            is_extended_id=False,
            is_error_frame=bool(frame.id & ERROR),
            data=frame.data,
            dlc=len(frame.data),
        )
        return message, False

    def fileno(self) -> int:
        """Return the file descriptor of the socket, for `select` to wait on."""
        return self._socket.fileno()


class BusServer:
    """The bus itself: what one end sends reaches all others and the server, what the server sends reaches all ends."""

    def __init__(self, path: Path) -> None:
        """Serve at `path`, in place of a server that is gone.

        Raises:
            OSError: another server lives there, or the path cannot be used.
        """
        self.path = path
        self._ends: list[socket.socket] = []
        if path.is_socket() and not _answers(path):
            path.unlink()
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._door.bind(str(path))
        except OSError as error:
            self._door.close()
            raise OSError(error.errno, f"cannot serve a bus at {path}: {error.strerror}") from error
        self._door.listen()
        self._door.setblocking(False)

    def receive(self, timeout: float = 0.0) -> Iterator[Frame]:
        """Yield what has come by now, after at most `timeout` s of waiting; broken packets are ignored."""
        for ready in select.select([self._door, *self._ends], [], [], max(timeout, 0.0))[0]:
            if ready is self._door:
                self._admit()
                continue
            while (packet := _next_packet(ready)) is not None:
                if not packet:
                    self._drop(ready)
                    break
                if len(packet) != _PACKET.size:
                    continue
                frame = _unpacked(packet)
                if not packet[_MARK_AT] & _NO_LOOPBACK:
                    self._hand_out(packet, [end for end in self._ends if end is not ready])
                yield frame

    def send(self, frames: Iterable[Frame]) -> None:
        """Send frames to all ends; an end that does not keep up loses them, as on a real bus."""
        for frame in frames:
            self._hand_out(_packed(frame), self._ends)

    def cut(self) -> None:
        """Disconnect every end, as when the adapter is pulled out."""
        for end in self._ends.copy():
            self._drop(end)

    @property
    def closed(self) -> bool:
        """Return whether nobody is served any more."""
        return self._door.fileno() < 0

    def close(self) -> None:
        """End the bus; a second time changes nothing."""
        if self.closed:
            return
        self.cut()
        self._door.close()
        self.path.unlink(missing_ok=True)

    def _admit(self) -> None:
        end, _ = self._door.accept()
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        self._ends.append(end)

    def _hand_out(self, packet: bytes, ends: Iterable[socket.socket]) -> None:
        for end in ends:
            with suppress(OSError):  # it does not keep up, or has left, which `receive` finds after its last words
                end.send(packet)

    def _drop(self, end: socket.socket) -> None:
        with suppress(ValueError):
            self._ends.remove(end)
        end.close()


def _next_packet(end: socket.socket) -> bytes | None:
    """Return the next packet: nothing (b"") from an end that has left, None where there is none now."""
    try:
        return end.recv(_PACKET.size)
    except BlockingIOError:
        return None
    except ConnectionResetError:  # told once, of an end that left without having read all; what it sent comes after
        return _next_packet(end)
    except OSError:
        return b""


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        return probe.connect_ex(str(path)) == 0


def _packed(frame: Frame, mark: int = 0) -> bytes:
    return _PACKET.pack(frame.id, len(frame.data) | mark, frame.data)


def _unpacked(packet: bytes) -> Frame:
    number, size, data = _PACKET.unpack(packet)
    return Frame(number, data[: size & ~_NO_LOOPBACK])
