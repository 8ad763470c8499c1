"""`kc-vla doctor --arm` shows what a Piper is set to and how it is; it only asks, and enables and moves nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from emulated_piper import running_emulator

from kc_vla.arm.claim import claim
from kc_vla.arm.emulator.bus import SocketBus
from kc_vla.arm.emulator.frames import MotorPower
from kc_vla.cli import main
from kc_vla.machine.finding import Level
from kc_vla.machine.piper_doctor import look_at_piper

QUESTIONS = {0x472, 0x477, 0x4AF}
"""What only asks; 0x477 can also set, which `is_written` of the emulator would have noticed."""
FEEDBACK = {0x2A1, 0x473, 0x476, 0x47B, 0x47E, *range(0x2A2, 0x2A9), *range(0x251, 0x267)}


@contextmanager
def heard(path: Path) -> Iterator[set[int]]:
    """Collect the ids of all frames on the bus that are not the arm's own reports."""
    ids: set[int] = set()
    over = threading.Event()

    def listen() -> None:
        with SocketBus(str(path)) as bus:
            while not over.is_set():
                message = bus.recv(0.1)
                if message is not None and message.arbitration_id not in FEEDBACK:
                    ids.add(message.arbitration_id)

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield ids
    finally:
        over.set()
        thread.join()


def test_a_well_arm_is_all_ok_in_one_screen_and_nothing_but_questions_is_sent(
    bus_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_emulator(bus_path) as emulator, heard(bus_path) as ids:
        assert main(["doctor", "--arm", str(bus_path)]) == 0
        told = capsys.readouterr().out
        assert ids <= QUESTIONS
        assert not emulator.arm.body.powered.any()
    lines = told.splitlines()
    assert len(lines) <= 24
    assert lines[-1] == "all is well"
    for name, what in (
        ("firmware", "S-V1.8-5"),
        ("status", "normal; standby"),
        ("motors", "no motor has power; 24.0 V, up to 35 degrees C"),
        ("limits", "those of robot 'piper'"),
        ("joints", "at its home pose"),
        ("collision", "levels 5, 5, 5, 5, 5, 5"),
        ("gripper", "stroke 70 mm, 0.0 mm, off"),
        ("mount", "the arm does not report it, and the robot file does not say it (down: -z)"),
    ):
        assert any(line.startswith(f"ok    {name} ") and what in line for line in lines), name


def test_each_thing_that_a_new_arm_lacks_has_a_line_with_what_to_do(bus_path: Path) -> None:
    with running_emulator(bus_path) as emulator:
        for fault in ("new_gripper", "unprotected", "broken_limits", "zero_lost 3", "hot 4"):
            emulator.faults.ask(fault)
        emulator.arm.receive(MotorPower((2,), True))
        found = {each.name: each for each in look_at_piper(str(bus_path), "piper")}
        assert emulator.arm.body.powered.tolist() == [False, True, False, False, False, False]
    setup = f"kc-vla setup piper {bus_path}"
    assert (found["gripper"].level, found["gripper"].do) == (Level.FAIL, f"{setup} --do")
    assert (found["collision"].level, found["collision"].do) == (Level.WARN, f"{setup} --do")
    assert found["limits"].do.startswith(f"{setup} --factory-limits --do")
    assert "1 of 6 motors have power" in found["motors"].what
    assert "joint 4: motor overheating" in found["motors"].what


def test_a_leader_is_recognized_and_a_controller_is_left_alone(bus_path: Path) -> None:
    with running_emulator(bus_path) as emulator:
        name = claim(str(bus_path))
        try:
            with heard(bus_path) as ids:
                found = {each.name: each for each in look_at_piper(str(bus_path), "piper")}
            assert ids == set()
        finally:
            name.close()
        assert found["controller"].what == "a controller has the arm: this look only listens"
        assert "collision" not in found
        assert found["joints"].level is Level.OK
        emulator.faults.ask("leader")
        (role,) = look_at_piper(str(bus_path), "piper")
        assert (role.level, role.do) == (Level.FAIL, f"kc-vla setup piper {bus_path} --role follower --do")
    (bus,) = look_at_piper(str(bus_path), "piper")
    assert "no CAN bus" in bus.what
