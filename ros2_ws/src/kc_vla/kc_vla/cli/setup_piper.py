"""`kc-vla setup piper`: says what a Piper is set to, asks, sends, reads back, and says what was read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from kc_vla.arm import piper_changes as changes
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper_bench import PiperBench, bench_of
from kc_vla.arm.piper_changes import Change
from kc_vla.arm.piper_mount import mounted
from kc_vla.arm.piper_role import ArmRole
from kc_vla.cli.asking import agreed, require_terminal
from kc_vla.core.files import write_whole, yaml_text
from kc_vla.core.robot import load_robot
from kc_vla.core.robot_file import FOLDER
from kc_vla.core.share import share
from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.machine.plan import SetupError

_STROKE = 70
Wanted = Callable[[PiperBench], Change]


def set_up_piper(options: argparse.Namespace) -> None:
    """Carry out what was chosen, one change after the other.

    Raises:
        SetupError: something cannot be set, or a person did not agree to all of it; the lines before say what was done.
    """
    new = _robot_file(options)
    try:
        with bench_of(options.interface) as bench:
            print(f"the Piper on '{options.interface}'")
            outcomes = [_carry_out(make(bench), options) for make in _wanted(options)]
            if new is not None:
                _write(Path(options.write), new, bench, options)
    except ArmError as error:
        raise SetupError(str(error)) from error
    if "shown" in outcomes:
        print("\nnothing was done: --do does it, after asking")
    if declined := outcomes.count("declined"):
        raise SetupError(f"not agreed to, and not sent: {declined} of {len(outcomes)} changes")


def _wanted(options: argparse.Namespace) -> Iterator[Wanted]:
    """Yield the changes that were chosen, or those that a new arm needs."""
    robot = load_robot(options.robot)
    chosen: list[Wanted] = []
    if options.role:
        chosen.append(lambda bench: changes.role(bench, ArmRole(options.role)))
    if options.stroke:
        chosen.append(lambda bench: changes.stroke(bench, options.stroke))
    if options.gripper_zero:
        chosen.append(changes.gripper_zero)
    if options.collision is not None:
        chosen.append(lambda bench: changes.collision(bench, options.collision))
    if options.factory_limits:
        chosen.append(lambda bench: changes.factory_limits(bench, robot))
    if options.joint_zero:
        chosen.append(lambda bench: changes.joint_zero(bench, options.joint_zero))
    if options.load:
        chosen.append(lambda bench: changes.load(bench, options.load))
    if options.mount:
        chosen.append(lambda bench: changes.mount(bench, options.mount))
    yield from chosen or (
        lambda bench: changes.stroke(bench, _STROKE),
        lambda bench: changes.collision(bench, None),
    )


def _carry_out(change: Change, options: argparse.Namespace) -> str:
    """Show a change, and do it where it is agreed to; return what became of it."""
    print(f"\n{change.found}")
    if change.do is None:
        return "as it is"
    print(f"to be sent: {change.sends}", *(f"- {line}" for line in change.warns), sep="\n")
    if not options.yes and not options.do:
        return "shown"
    if not options.yes or change.each_time:
        require_terminal("a person has to be there" if change.each_time else "--yes does it without asking")
        if not agreed("do this?"):
            print("not sent")
            return "declined"
    print(f"done: {change.do()}")
    return "done"


def _robot_file(options: argparse.Namespace) -> dict[str, object] | None:
    """Return the content of the robot file that is to be written, but for its home pose; None where none is."""
    if options.write is None:
        if options.down or options.floor is not None:
            raise SetupError("--down and --floor go into a robot file: name it with --write FILE")
        return None
    if not options.mount:
        raise SetupError("--write writes how the arm is mounted: say it with --mount")
    if not options.write.endswith(".yaml") or Path(options.write).exists():
        raise SetupError(f"'{options.write}' cannot be written: name a new file that ends in .yaml")
    name = options.robot
    path = Path(name) if name.endswith((".yaml", ".yml")) else share(FOLDER) / f"{name}.yaml"
    load_robot(name)
    down = options.down or ("-z" if options.mount == "upright" else "")
    try:
        return mounted(parsed_yaml(read_text(path)), options.mount, down, options.floor, None)
    except ValueError as error:
        raise SetupError(f"{error}; --down says it") from error


def _write(path: Path, content: dict[str, object], bench: PiperBench, options: argparse.Namespace) -> None:
    """Write the robot file, with the pose in which the arm lies now as its home pose, where a person agrees."""
    if not options.do and not options.yes:
        print(f"\nto be written: {path}, with the pose in which the arm lies without power now as its home pose")
        return
    bench.require_no_power()
    lies = bench.angles()
    print(
        f"\nhome pose of {path}: {', '.join(f'{angle:.3f}' for angle in lies.tolist())} rad. It is where the arm lies "
        "by itself, and where the controller takes its power: nobody may hold it now, and it must not hang"
    )
    if not options.yes:
        require_terminal("--yes does it without asking")
        if not agreed("does it lie there by itself?"):
            raise SetupError(f"{path} was not written: lay the arm down, and run this again")
    down, floor = str(content["down"]), options.floor
    write_whole(path, yaml_text(mounted(content, options.mount, down, floor, lies)))
    load_robot(str(path))
    print(f"{path} is written: compare its workspace with the place, then start with robot:={path}")
