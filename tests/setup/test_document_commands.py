"""Every command of every document is one that there is: its program, its verb, its options, its launch arguments.

None is run here: what a command line of `kc-vla` says is read by that verb's own parser, and a launch file is asked
what it declares. So no page names an option that was renamed. What a command does is tested with the part that does it:
each verb, and each launch argument, that a document names is one that some test runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from launch import LaunchDescription
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from plugin import install

from kc_vla.cli import main
from kc_vla.core.task_file import read_tasks
from kc_vla.core.tasks import TASKS

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELL = {"cat", "cd", "cp", "curl", "export", "git", "head", "ln", "mkdir", "source", "ssh", "sudo"}
_OF_OTHERS = _SHELL | {"docker", "lerobot-record", "lerobot-train", "pip", "rviz2", "uv"}
"""Programs that are not ours: what they are told is looked at by whoever writes it."""
_MODULES_OF_OTHERS = {"build"}
_LAUNCHES_OF_OTHERS = {"ur_robot_driver"}
_ROS2_VERBS = {"action", "bag", "launch", "lifecycle", "node", "param", "run", "service", "topic"}
_RUN_ELSEWHERE = {"docs/your_own_task.md": "test_your_own_task.py does what it says, with a task that it makes"}
_TASKS_OF = {
    "docs/mikasa.md": "examples/mikasa/mikasa.yaml",
    "docs/mikasa_experiments.md": "examples/mikasa/mikasa.yaml",
}
"""The file that KC_VLA_TASKS names in a document."""
_ONE_WORD = {"collect", "doctor", "report"}
"""Verbs that are whole commands."""
_ELSEWHERE = ("gr00t/", "lerobot.")
"""Paths and modules in a program of others."""


class _ParsedError(BaseException):
    """The words of a command were understood; it is not run."""


class Command(NamedTuple):
    """A command of a document; `words` without what sets the environment before it."""

    document: str
    line: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.document}:{self.line} {' '.join(self.words)}"


def commands_of(text: str, document: str) -> Iterator[Command]:
    """The commands in the blocks of a document, line by line, of a loop as in its first turn; comments left out."""
    for block in _BLOCK.finditer(text):
        first = text[: block.start(1)].count("\n") + 1
        known: dict[str, str] = {}
        until = ""
        for number, line in enumerate(block[1].replace("\\\n", "  ").splitlines()):
            if until:  # of a file that is written in the block
                until = "" if line.strip() == until else until
                continue
            if here := re.search(r"<<\s*'?(\w+)'?", line):
                until = here[1]
            for words in _commands_in(line, known):
                yield Command(document, first + number, words)


def _commands_in(line: str, known: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """Of a line; `known` are the variables of its block, and what this line sets is put there."""
    told = re.sub(r"\$\{?(\w+)\}?", lambda found: known.get(found[1], found[0]), line)
    lexer = shlex.shlex(told, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    for is_end, some in groupby(lexer, lambda word: word in ("&&", "|", ";", "||", "&")):
        words = list(some)
        while words and (words[0] == "do" or re.fullmatch(r"\w+=.*", words[0])):
            name, _, value = words.pop(0).partition("=")
            if not words:
                known[name] = value
        if words[:1] == ["for"]:
            known[words[1]] = words[3]
        elif words and words != ["done"] and not is_end:
            yield tuple(words)


def _documents() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [name for name in listed.stdout.split("\0") if name]


COMMANDS = [
    command
    for name in _documents()
    if name not in _RUN_ELSEWHERE
    for command in commands_of((ROOT / name).read_text(), name)
]


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Of each launch file its arguments by name, with the arms of the example packages as if they were installed."""
    found: dict[str, dict[str, Any]] = {}
    with pytest.MonkeyPatch.context() as patch:
        install(tmp_path_factory.mktemp("site"), patch, "kc_vla.arms", {"xarm": "kc_vla_xarm.row:XARM"})
        for path in sorted((ROOT / "launch").glob("*.launch.py")):
            description: LaunchDescription = get_launch_description_from_python_launch_file(str(path))
            found[path.name] = {argument.name: argument for argument in description.get_launch_arguments()}
    return found


def check(command: Command, declared: dict[str, dict[str, Any]]) -> str:
    """What is wrong with a command; empty if nothing is."""
    program, *words = command.words
    if program == "kc-vla":
        return _check_verb(words)
    if program == "ros2" and words[:1] == ["launch"]:
        return _check_launch(words[1:], declared)
    if program == "ros2":
        return "" if set(words[:1]) & _ROS2_VERBS else f"ros2 has no {' '.join(words[:1])}"
    if program in ("python", "pytest") or "/" in program:
        return _check_path(program, words)
    return "" if program in _OF_OTHERS else f"nobody knows the program {program}"


def _check_verb(words: Sequence[str]) -> str:
    parse = argparse.ArgumentParser.parse_args

    def parsed(parser: argparse.ArgumentParser, *given: Any, **named: Any) -> None:
        parse(parser, *given, **named)
        raise _ParsedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", parsed)
        try:
            status = main(list(words))
        except _ParsedError:
            return ""
        except SystemExit as ended:
            return "" if ended.code == 0 else "its words are not understood"
    return f"it ended with {status} before its words were read"


def _check_launch(words: Sequence[str], declared: dict[str, dict[str, Any]]) -> str:
    names = [word for word in words if not word.startswith("-")]
    if set(names[:1]) & _LAUNCHES_OF_OTHERS:
        return ""
    if names[:1] != ["kc_vla"] or len(names) < 2 or names[1] not in declared:
        return f"there is no launch file {' '.join(names[:2])}"
    for word in names[2:]:
        name, separator, value = word.partition(":=")
        argument = declared[names[1]].get(name)
        if not separator or argument is None:
            return f"{names[1]} declares no {name}"
        choices = argument.choices
        if choices and value not in choices and not value.startswith("<"):
            return f"{name} can be {', '.join(choices)}, and not {value}"
    return ""


def _check_path(program: str, words: Sequence[str]) -> str:
    if program == "python":
        if words[:1] == ["-m"] and words[1:2] and words[1] in _MODULES_OF_OTHERS:
            return ""
        if words[:1] == ["-m"] and words[1:2]:
            here = words[1].startswith(_ELSEWHERE) or importlib.util.find_spec(words[1]) is not None
            return "" if here else f"there is no module {words[1]}"
        here = words[0].startswith(("-", *_ELSEWHERE)) or (ROOT / words[0]).exists()
        return "" if here else f"there is no {words[0]}"
    paths = [word for word in words if "/" in word or word.endswith(".py")] if program == "pytest" else [program]
    missing = [path for path in paths if not (ROOT / path.split("::")[0]).exists()]
    return f"there is no {', '.join(missing)}" if missing else ""


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_command_of_a_document_is_one_that_there_is(
    command: Command, declared: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if command.document in _TASKS_OF:
        for name, task in read_tasks(ROOT / _TASKS_OF[command.document]).items():
            monkeypatch.setitem(TASKS, name, task)
    assert check(command, declared) == ""


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("kc-vla eval recal", "not understood"),
        ("kc-vla memory show a.db --pgn map.png", "not understood"),
        ("ros2 launch kc_vla maniskil.launch.py", "no launch file"),
        ("ros2 launch kc_vla maniskill.launch.py taks:=all", "declares no taks"),
        ("ros2 launch kc_vla maniskill.launch.py memory:=bth", "memory can be"),
        ("ros2 luanch kc_vla maniskill.launch.py", "ros2 has no"),
        ("tests/rnu --all", "there is no tests/rnu"),
        ("python -m tests.benchmark viewer", "no module tests.benchmark"),
        ("pytest tests/setup/test_nothing.py", "there is no tests/setup/test_nothing.py"),
        ("rivz2 -d launch/viewers/kc_vla.rviz", "nobody knows the program rivz2"),
    ],
)
def test_what_is_wrong_with_a_command_is_found(line: str, word: str, declared: dict[str, dict[str, Any]]) -> None:
    (command,) = commands_of(f"```bash\nOMP_NUM_THREADS=1 {line}   # as always\n```\n", "a.md")
    assert word in check(command, declared)


@pytest.fixture(scope="module")
def tests() -> str:
    """The source of all other tests."""
    folders = ("tests", "ros2_ws/src/kc_vla/test", "sim_bridge/test")
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return "\n".join(path.read_text() for path in paths if path != Path(__file__))


def _named() -> Iterator[tuple[str, ...]]:
    """Verbs of `kc-vla` with what they do, and launch files with their arguments, as documents name them."""
    for command in COMMANDS:
        program, *words = command.words
        if program == "kc-vla" and words[0] in _ONE_WORD:
            yield ("kc-vla", words[0])
        elif program == "kc-vla" and not words[1].startswith("-"):
            yield ("kc-vla", *words[:2])
        elif program == "ros2" and words[:2] == ["launch", "kc_vla"]:
            yield from ((words[2], word.partition(":=")[0]) for word in words[3:] if ":=" in word)


@pytest.mark.parametrize("named", sorted(set(_named())), ids=" ".join)
def test_what_a_document_has_run_is_run_by_a_test(named: tuple[str, ...], tests: str) -> None:
    if named[0] == "kc-vla":
        _, verb, *action = named
        run = ", ?".join((f'"{verb}"', *(rf'(?:"{word}"|\*?(?:words|action)\b)' for word in action)))
        assert re.search(run, tests), f"no test runs {' '.join(named)}"
        assert all(f'"{word}"' in tests for word in action)
    else:
        assert re.search(rf'"{named[1]}": |\b{named[1]}=|{named[1]}:=', tests), f"no test launches with {named[1]}"


TEXT = """kc-vla no
```bash
A=1 kc-vla one \\
  --two   # three
data="--data a"
for task in "first --more" second; do
  kc-vla x $data --task $task
done
ros2 x && kc-vla y | head
cat > f <<'EOF'
kc-vla z
EOF
```
"""


def test_commands_are_found_in_loops_behind_pipes_and_on_several_lines() -> None:
    assert [" ".join(each.words) for each in commands_of(TEXT, "a.md")] == [
        "kc-vla one --two",
        "kc-vla x --data a --task first --more",
        "ros2 x",
        "kc-vla y",
        "head",
        "cat > f <<EOF",
    ]
