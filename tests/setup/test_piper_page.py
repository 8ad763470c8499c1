"""The checklist of docs/piper.md, followed line by line on an emulated arm as it comes out of its box."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from emulated_piper import running_emulator

from kc_vla.cli import main
from kc_vla.core.robot import load_robot

PAGE = Path(__file__).parents[2] / "docs/piper.md"
_COMMAND = re.compile(r"kc-vla (?:doctor --arm|setup piper) can0[^`#\n]*")
_OF_CAN = ("kc-vla doctor --arm can0", "kc-vla setup piper can0")


def test_each_command_of_the_page_does_on_an_arm_out_of_its_box_what_the_page_says(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    bus = tmp_path_factory.mktemp("b") / "bus"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda question: "y")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def run(command: str) -> str:
        """Run it with a person who agrees to everything; return what it prints."""
        words = [str(bus) if word == "can0" else word for word in shlex.split(command)[1:]]
        status = main(words)
        printed = capsys.readouterr().out
        assert status == (1 if "fail " in printed else 0), f"{command}: {printed}"
        return printed

    text = PAGE.read_text()
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if re.match(r"\| \d+ \|", line) and any(command in line for command in _OF_CAN)
    ]
    assert len(rows) == 4
    with running_emulator(bus) as emulator:
        for fault in ("new_gripper", "unprotected", "gripper_unhomed"):
            emulator.faults.ask(fault)
        for number, do, seen, _ in rows:
            (command,) = _COMMAND.findall(do)
            printed = run(command)
            for phrase in re.findall("`([^`]+)`", seen):
                assert all(part in printed for part in phrase.split("...")), f"line {number}: {phrase} not in {printed}"
        done = {_COMMAND.findall(do)[0] for _, do, _, _ in rows}
        for command in dict.fromkeys(match.strip() for match in _COMMAND.findall(text)):
            if command not in done:
                run(command)
        assert load_robot("mine.yaml").down_axis == "-y"
        assert emulator.misunderstood == []
        assert not emulator.arm.body.powered.any()
        assert emulator.watch.set_with_power == emulator.watch.commands == 0
