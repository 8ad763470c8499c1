"""docs/your_own_task.md to the letter: its files are written, its commands run, and they print what it says."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "your_own_task.md"
_BLOCK = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A block of commands, and the lines that the document shows as their output."""

    commands: str
    prints: tuple[str, ...]


def files_and_steps() -> tuple[dict[str, str], list[Step]]:
    """The files by their names, parts of one put together; the first step is what each shell begins with."""
    files: dict[str, str] = {}
    steps: list[Step] = []
    for kind, title, text in _BLOCK.findall(DOCUMENT.read_text()):
        if title:
            files[title] = files[title] + "\n\n" + text if title in files else text
        elif kind == "bash":
            steps.append(Step(text, ()))
        elif kind == "text":
            steps[-1] = Step(steps[-1].commands, (*steps[-1].prints, *text.splitlines()))
        else:
            raise AssertionError(f"a block of {kind} that nobody tries: {text}")
    return files, steps


FILES, (SETTING, *STEPS) = files_and_steps()


def run(folder: Path, commands: str) -> subprocess.CompletedProcess[str]:
    """Run commands as a shell of the user's would, in which the task is known."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", SETTING.commands + commands], cwd=folder, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the files of the document are."""
    made = tmp_path_factory.mktemp("my_task")
    for name, text in FILES.items():
        (made / name).write_text(text)
    return made


def _marked(step: Step) -> object:
    plays = ("sim check", "collect", "sim play", "ros2 launch")
    long = any(words in step.commands for words in plays)
    name = " ".join(step.commands.split()[:3])
    return pytest.param(step, id=name, marks=[pytest.mark.nightly, pytest.mark.timeout(1800)] if long else [])


@pytest.mark.parametrize("step", [_marked(step) for step in STEPS])
def test_what_the_document_says_is_so(step: Step, folder: Path) -> None:
    done = run(folder, step.commands)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    for line in step.prints:
        assert line in said


def test_the_model_that_comes_with_the_stack_says_that_it_has_not_learnt_the_task(folder: Path) -> None:
    asked = """
import sys
from pathlib import Path
from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.keyframes.learned import LearnedSource, SelectorNetwork
from kc_vla.keyframes.model import load_selector

source = LearnedSource(SelectorNetwork(load_selector(Path(sys.argv[1]), "keyframe_selector")))
for task in ("counting", "beacon"):
    said = find_task(task).instruction
    try:
        print(task, *source.begin(Episode(f"{task}-3", task, said, 0, 50_000_000, True)).labels)
    except ValueError as error:
        print(error)
"""
    done = run(folder, f"python -c '{asked}' '{DOCUMENT.parents[1] / 'models'}'")
    counting, beacon = done.stdout.splitlines()
    assert counting.startswith("counting start flash")
    assert beacon.startswith("model 'keyframe_selector' was not trained on 'beacon': it knows counting, ")
    assert beacon.endswith("train one with it, or choose another selector:=")


def test_the_task_is_one_of_all_that_are_simulated_and_the_table_has_its_cues(folder: Path) -> None:
    done = run(folder, "python -c 'from kc_vla.core.tasks import *; print(simulated_tasks(), TASKS[\"beacon\"].cues)'")
    assert "'temporal', 'beacon') ('first_frame', 'brightness_jump', 'brightness_jump')" in done.stdout


@pytest.mark.parametrize("command", ["kc-vla sim play --task beacon --seed 3", "ros2 run kc_vla keyframe_selector"])
def test_a_file_that_is_not_right_is_one_line_of_whatever_reads_it(command: str, folder: Path) -> None:
    (folder / "bad.yaml").write_text(FILES["beacon.yaml"].replace("decisions: 1", "decision: 1"))
    done = run(folder, f"KC_VLA_TASKS=bad.yaml {command}")
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "KC_VLA_TASKS: bad.yaml, task 'beacon': there is no 'decision': it has instruction, keyframes" in said
    assert "Traceback" not in said
