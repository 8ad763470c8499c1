"""An emulated control box of an xArm 7: the vendor's protocol over TCP, as far as the SDK's calls of a driver need it.

    python emulated_controller.py ADDRESS PORT_OFFSET

It answers on port 502 and reports on 30002 (all, 10 Hz) and 30003 (joints, 100 Hz), each with the offset added. A test
writes one JSON list a line to its stdin, and reads one JSON line for each from its stdout:

    ["error", 31]    the controller reports this error and stops; 0: it is gone (a button was released)
    ["stop"]         its app stops it: state 4 without an error
    ["mode", 2]      another program sets its mode
    ["silent", true] nothing is reported or answered any more, the connections stay
    ["freeze", true] nothing is answered any more; joints are still reported
    ["axis", 6]      it is another arm
    ["log"]          what it saw: {"steps": largest step of each joint between two set-points, rad; "first": distance of
                     the first set-point of each enabling from the arm, rad; "gap": longest time between two, s;
                     "count", "angles", "enabled", "gripper", "state", "mode", "refused"}

Of a set-point it takes the angles at once, and its joints follow at their top velocity, as those of a real one do.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

JOINTS = 7
TOP_SPEED = 3.14
PERIOD_S = 0.004
HELD_S = 0.1
"""After so long without a set-point it says that it stands."""
VERSION = b"%d,7,XI130412345678,AC130412345678,v2.5.0\0"
ERROR_BIT, WARNING_BIT, NOT_READY_BIT = 0x40, 0x20, 0x10
(GET_VERSION, ENABLE, SET_STATE, GET_STATE, GET_COUNT, GET_ERROR, CLEAN_ERROR, CLEAN_WARNING) = (
    *(1, 11, 12, 13, 14, 15),
    *(16, 17),
)
SET_MODE, SERVO_J, GET_JOINTS, RS485 = 19, 29, 42, 124
TARGET, POSITION, GRIPPER_ERROR = 0x0700, 0x0702, 0x000F


Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Arm:
    """Its joints, and what its controller knows of itself."""

    def __init__(self) -> None:
        self.angles = [0.0] * JOINTS
        self.speeds = [0.0] * JOINTS
        self.target = [0.0] * JOINTS
        self.enabled, self.state, self.mode, self.error, self.warning = False, 4, 0, 0, 0
        self.axis = JOINTS
        self.silent = self.freezes = False
        self.gripper = self.gripper_target = 0
        self.sent: list[float] | None = None
        self.sent_at = 0.0
        self.steps, self.first = [0.0] * JOINTS, 0.0
        self.count = self.refused = 0
        self.gap = 0.0

    @property
    def ready(self) -> bool:
        """Whether it takes set-points."""
        return self.enabled and not self.error and self.state in (0, 1, 2) and self.mode == 1

    @property
    def status(self) -> int:
        """The byte that each answer begins with."""
        stopped = self.state not in (0, 1, 2)
        error, warning = ERROR_BIT if self.error else 0, WARNING_BIT if self.warning else 0
        return error | warning | (NOT_READY_BIT if stopped else 0)

    def step(self, seconds: float) -> None:
        """Let time pass."""
        for joint in range(JOINTS):
            way = self.target[joint] - self.angles[joint]
            moved = max(-TOP_SPEED * seconds, min(TOP_SPEED * seconds, way)) if self.ready else 0.0
            self.angles[joint] += moved
            self.speeds[joint] = moved / seconds
        gripper = self.gripper_target - self.gripper
        self.gripper += max(-20, min(20, gripper))
        if self.state == 1 and time.monotonic() - self.sent_at > HELD_S:
            self.state = 2

    def fail(self, code: int) -> None:
        """Report an error, and stop; emergency stops take the power, and the brakes hold."""
        self.error = code
        if code:
            self.state, self.target, self.sent = 4, list(self.angles), None
            self.enabled = self.enabled and code not in (1, 2, 3)

    def do(self, function: int, data: bytes) -> bytes:
        """Answer a command."""
        if function == GET_VERSION:
            return (VERSION % self.axis).ljust(40, b"\0")
        if function == ENABLE:
            self.enabled = bool(data[1]) and not self.error
            self.target, self.sent = list(self.angles), None
            self.state = self.state if self.enabled else 4
        elif function == SET_STATE:
            self.target, self.sent = list(self.angles), None
            if data[0] in (3, 4):
                self.state = data[0]
            elif self.enabled and not self.error:
                self.state = 2
        elif function == GET_STATE:
            return bytes([self.state])
        elif function == GET_COUNT:
            return struct.pack(">H", 0)
        elif function == GET_ERROR:
            return bytes([self.error, self.warning])
        elif function == CLEAN_ERROR:
            self.error = 0
        elif function == CLEAN_WARNING:
            self.warning = 0
        elif function == SET_MODE:
            if self.mode != data[0]:
                self.mode, self.state = data[0], 5  # until the state is set anew
        elif function == SERVO_J:
            self.take(list(struct.unpack_from("<7f", data)))
        elif function == GET_JOINTS:
            return struct.pack("<14f", *self.angles, *self.speeds)
        elif function == RS485:
            return self.bus(data)
        return b""

    def take(self, angles: list[float]) -> None:
        """Take a set-point, and note how far it is."""
        now = time.monotonic()
        if not self.ready:
            self.refused += 1
            return
        if self.sent is None:
            self.first = max(self.first, *(abs(a - b) for a, b in zip(angles, self.angles, strict=True)))
        else:
            steps = [abs(a - b) for a, b in zip(angles, self.sent, strict=True)]
            self.steps = [max(a, b) for a, b in zip(steps, self.steps, strict=True)]
            self.gap = max(self.gap, now - self.sent_at)
        self.sent, self.sent_at, self.target, self.state = angles, now, angles, 1
        self.count += 1

    def bus(self, data: bytes) -> bytes:
        """Answer for the gripper, which is behind a serial bus."""
        host, gripper, function, address = struct.unpack_from(">BBBH", data)
        head = bytes([host, gripper, function])
        if function == 0x10:
            if address == TARGET:
                (self.gripper_target,) = struct.unpack_from(">i", data, 8)
            return head + data[3:7]
        if address == POSITION:
            return head + struct.pack(">Bi", 4, self.gripper)
        return head + struct.pack(">BH", 2, 0)

    def joints_report(self) -> bytes:
        """Of port 30003."""
        body = bytes([self.state | self.mode << 4]) + struct.pack(">H", 0) + struct.pack("<7f", *self.angles)
        body += struct.pack("<13f", *([0.0] * 13))
        return struct.pack(">I", len(body) + 4) + body

    def full_report(self) -> bytes:
        """Of port 30002, as far as the joints' velocities."""
        frame = bytearray(284)
        struct.pack_into(">I", frame, 0, len(frame))
        frame[4] = self.state | self.mode << 4
        struct.pack_into("<7f", frame, 7, *self.angles)
        mask = (1 << JOINTS) - 1 if self.enabled else 0
        frame[87:91] = bytes([mask, mask, self.error, self.warning])
        frame[131:133] = bytes([3, 3])
        frame[145:147] = bytes([7, self.axis])
        frame[151:181] = (VERSION % self.axis)[:30]
        struct.pack_into("<8f", frame, 252, 0.0, *self.speeds)
        return bytes(frame)

    def log(self) -> dict[str, object]:
        """What it saw."""
        return {
            "steps": self.steps,
            "first": self.first,
            "gap": self.gap,
            "count": self.count,
            "refused": self.refused,
            "angles": self.angles,
            "enabled": self.enabled,
            "gripper": self.gripper,
            "state": self.state,
            "mode": self.mode,
        }


class Box:
    """Its connections."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm

    async def control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the commands of one client."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readexactly(7)
                transaction, protocol, length, function = struct.unpack(">HHHB", head)
                data = await reader.readexactly(length - 1)
                if self.arm.silent or self.arm.freezes or not function:  # 0: a sign of life
                    continue
                answer = self.arm.do(function, data)
                body = bytes([function, self.arm.status]) + answer
                writer.write(struct.pack(">HHH", transaction, protocol, len(body)) + body)
                await writer.drain()
        writer.close()

    def reports(self, make: str, hertz: float) -> Client:
        """Report to one client."""

        async def report(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while True:
                    if not self.arm.silent:
                        writer.write(getattr(self.arm, make)())
                        await writer.drain()
                    await asyncio.sleep(1.0 / hertz)

        return report

    async def live(self) -> None:
        """Let time pass."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(PERIOD_S)
            now = time.monotonic()
            self.arm.step(max(now - before, 1e-6))
            before = now

    def told(self, words: list[object]) -> object:
        """Do what a test asks."""
        arm, (what, *value) = self.arm, words
        if what == "log":
            return arm.log()
        if what == "error":
            arm.fail(int(value[0]))  # type: ignore[call-overload]
        elif what == "stop":
            arm.state = 4
        elif what == "mode":
            arm.mode = value[0]  # type: ignore[assignment]
        elif what == "silent":
            arm.silent = bool(value[0])
        elif what == "freeze":
            arm.freezes = bool(value[0])
        elif what == "axis":
            arm.axis = value[0]  # type: ignore[assignment]
        return True


async def main(address: str, offset: int) -> None:
    """Serve until stdin ends."""
    box, loop, ended = Box(Arm()), asyncio.get_running_loop(), asyncio.Event()
    handlers = {
        502: box.control,
        30002: box.reports("full_report", 10.0),
        30003: box.reports("joints_report", 100.0),
    }
    for port, handler in handlers.items():
        await asyncio.start_server(handler, address, port + offset)

    def listen() -> None:
        for line in sys.stdin:
            words = json.loads(line)
            loop.call_soon_threadsafe(lambda words=words: print(json.dumps(box.told(words)), flush=True))
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=listen, daemon=True).start()
    living = asyncio.create_task(box.live())
    print(json.dumps("ready"), flush=True)
    await ended.wait()
    living.cancel()
    os._exit(0)  # whoever is still connected sees its connection end


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
