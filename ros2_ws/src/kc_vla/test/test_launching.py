"""What the launch files' handlers say and do when nodes end, called as the launch system calls them."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from launch import LaunchContext
from launch.actions import LogInfo, Shutdown
from launch.events.process import ProcessExited, ProcessStarted, ProcessStderr
from launch.utilities import perform_substitutions
from plugin import install
from taught_policies import write_taught_policy

from kc_vla.core.tables import OpenTable
from kc_vla.keyframes.selectors import SELECTORS
from kc_vla.launching import endings, graph
from kc_vla.launching import policies as policy_arguments
from kc_vla.launching.selector import ChosenSelector, ModelOfSelector
from kc_vla.policy.backends import BACKENDS

ROW_KINDS = {
    "kc_vla.policies": ("PolicyKind", "kc_vla.policy.backends"),
    "kc_vla.keyframe_selectors": ("SelectorKind", "kc_vla.keyframes.selectors"),
}
CAMERA, BUFFER, CONTROLLER = 101, 102, 103
NAMES = {CAMERA: "camera-1", BUFFER: "keyframe_buffer-2", CONTROLLER: "arm_controller-3"}
COMPLAINT = b"[ERROR] [1790000000.123] [third_person.camera]: /dev/video9: there is no such camera\n"


@pytest.fixture(autouse=True)
def new_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "_launch", endings._Launch())


@pytest.fixture
def context() -> LaunchContext:
    return LaunchContext()


@pytest.fixture
def happens(context: LaunchContext) -> Callable[..., list[Any]]:
    """Give an event of a process to the handlers that want it; returns what they want to be executed."""
    handlers = [action.event_handler for action in endings.last_word()]

    def happens(event: type, pid: int, **more: object) -> list[Any]:
        given = event(action=None, name=NAMES[pid], cmd=["x"], cwd=None, env=None, pid=pid, **more)
        answers = [handler.handle(given, context) for handler in handlers if handler.matches(given)]
        return [entity for answer in answers for entity in _listed(answer)]

    return happens


def _listed(entities: Any) -> Iterator[Any]:
    if entities is not None:
        yield from entities if isinstance(entities, list | tuple) else [entities]


def _ended(pid: int, returncode: int) -> ProcessExited:
    return ProcessExited(action=None, name=NAMES[pid], cmd=["x"], cwd=None, env=None, pid=pid, returncode=returncode)


def _told(entities: list[Any]) -> list[str]:
    assert all(isinstance(entity, LogInfo) for entity in entities)
    return [perform_substitutions(LaunchContext(), entity.msg) for entity in entities]


@pytest.mark.parametrize(
    "pieces",
    [
        [COMPLAINT],
        [COMPLAINT[:20], COMPLAINT[20:70], COMPLAINT[70:]],
        [b"a warning\n" + COMPLAINT + b"\n"],
        [b"a warn", b"ing\n" + COMPLAINT[:-1]],
    ],
    ids=["a line", "parts of a line", "lines", "a cut line and one without end"],
)
def test_why_a_node_cannot_start_is_said_once_more_when_all_have_ended(
    happens: Callable[..., list[Any]], pieces: list[bytes]
) -> None:
    happens(ProcessStarted, CAMERA)
    happens(ProcessStarted, BUFFER)
    for piece in pieces:
        assert happens(ProcessStderr, CAMERA, text=piece) == []
    happens(ProcessStderr, BUFFER, text=b"something else\n")
    with pytest.raises(RuntimeError, match="camera-1 cannot start: see what it says above"):
        endings.end_if_it_cannot_start(_ended(CAMERA, endings.CANNOT_START), LaunchContext())
    last = happens(ProcessExited, BUFFER, returncode=0)
    assert _told(last) == ["camera-1 cannot start: /dev/video9: there is no such camera"]


def test_how_an_arm_was_left_is_the_last_that_is_said(happens: Callable[..., list[Any]]) -> None:
    happens(ProcessStarted, CONTROLLER)
    happens(ProcessStarted, BUFFER)
    happens(ProcessStderr, CONTROLLER, text=b"[ERROR] [1.2] [arm_controller]: not parked: it keeps its power\n")
    assert happens(ProcessExited, CONTROLLER, returncode=endings.KEEPS_POWER) == []
    assert _told(happens(ProcessExited, BUFFER, returncode=0)) == ["not parked: it keeps its power"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "the arm has no power: the emergency stop is set"),
        (0, "the arm is parked and has no power"),
        (endings.KEEPS_POWER, "not parked: it is hot. The arm keeps its power (flange at 0.35 m): support it"),
    ],
)
def test_what_is_said_of_other_things_after_it_does_not_hide_how_an_arm_was_left(
    happens: Callable[..., list[Any]], code: int, words: str
) -> None:
    happens(ProcessStarted, CONTROLLER)
    happens(ProcessStarted, BUFFER)
    happens(ProcessStderr, CONTROLLER, text=f"[INFO] [1.2] [arm_controller]: {words}\n[WARN] [1.3] [arm_cont".encode())
    happens(ProcessStderr, CONTROLLER, text=b"roller]: the middleware does not end: it is left\n")
    assert happens(ProcessExited, CONTROLLER, returncode=code) == []
    assert _told(happens(ProcessExited, BUFFER, returncode=0)) == [words]


@pytest.mark.parametrize(("ends", "said"), [(True, True), (False, False)], ids=["at the end", "while it goes on"])
def test_an_arm_whose_controller_was_killed_is_told_of(
    happens: Callable[..., list[Any]], context: LaunchContext, ends: bool, said: bool
) -> None:
    context._is_shutdown = ends
    happens(ProcessStarted, CONTROLLER)
    told = _told(happens(ProcessExited, CONTROLLER, returncode=-9))
    assert bool(told) == said
    assert all("was killed (signal 9): the arm holds where it is" in text for text in told)


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("after", ["nothing", "one that parked"])
def test_an_arm_that_nobody_parked_after_its_controller_died_is_told_of(
    happens: Callable[..., list[Any]], context: LaunchContext, after: str, real: bool
) -> None:
    endings.last_word(real)
    happens(ProcessStarted, BUFFER)
    happens(ProcessStarted, CONTROLLER)
    assert happens(ProcessExited, CONTROLLER, returncode=-11) == []  # while the launch goes on: it is started again
    context._is_shutdown = True
    happens(ProcessStarted, CONTROLLER)
    if after != "nothing":
        happens(ProcessStderr, CONTROLLER, text=b"[INFO] [1.2] [arm_controller]: the arm is parked and has no power\n")
    happens(ProcessExited, CONTROLLER, returncode=0)
    told = _told(happens(ProcessExited, BUFFER, returncode=0))
    if after != "nothing":
        assert told == ["the arm is parked and has no power"]
    else:
        died = (
            "arm_controller-3 died (exit code -11), and nothing has parked its arm since: it may be raised, with power"
        )
        assert told == ([died] if real else [])


def test_what_moves_an_arm_and_dies_again_and_again_ends_the_launch() -> None:
    for _ in range(endings.MOST_DEATHS):
        endings.end_if_it_cannot_start(_ended(CONTROLLER, 1), LaunchContext())
        endings.end_if_it_cannot_start(_ended(CAMERA, 1), LaunchContext())
    with pytest.raises(RuntimeError, match="arm_controller-3 has died 11 times"):
        endings.end_if_it_cannot_start(_ended(CONTROLLER, 1), LaunchContext())


def test_a_complaint_that_is_read_after_the_end_of_its_process_is_said_too(happens: Callable[..., list[Any]]) -> None:
    happens(ProcessStarted, CAMERA)
    happens(ProcessStarted, BUFFER)
    with pytest.raises(RuntimeError):
        endings.end_if_it_cannot_start(_ended(CAMERA, endings.CANNOT_START), LaunchContext())
    happens(ProcessStderr, CAMERA, text=COMPLAINT)
    assert _told(happens(ProcessExited, BUFFER, returncode=0)) == [
        "camera-1 cannot start: /dev/video9: there is no such camera"
    ]


def test_a_node_that_said_nothing_points_to_what_is_above(happens: Callable[..., list[Any]]) -> None:
    happens(ProcessStarted, CAMERA)
    happens(ProcessStarted, BUFFER)
    with pytest.raises(RuntimeError):
        endings.end_if_it_cannot_start(_ended(CAMERA, endings.CANNOT_START), LaunchContext())
    assert _told(happens(ProcessExited, BUFFER, returncode=0)) == ["camera-1 cannot start: see above"]


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("the arm is parked and has no power", ["the arm is parked and has no power"]),
        ("the arm has no power: the emergency stop is set", ["the arm has no power: the emergency stop is set"]),
        ("the arm holds: the chunk is used up", []),
    ],
)
def test_that_an_arm_has_no_power_is_the_last_that_is_said(
    happens: Callable[..., list[Any]], said: str, last: list[str]
) -> None:
    happens(ProcessStarted, CONTROLLER)
    happens(ProcessStarted, BUFFER)
    happens(ProcessStderr, CONTROLLER, text=f"[INFO] [1790000000.123] [arm_controller]: {said}\n".encode())
    assert happens(ProcessExited, CONTROLLER, returncode=0) == []
    assert _told(happens(ProcessExited, BUFFER, returncode=0)) == last


def test_nothing_is_said_after_a_good_run_whatever_was_on_standard_error(happens: Callable[..., list[Any]]) -> None:
    happens(ProcessStarted, CAMERA)
    happens(ProcessStderr, CAMERA, text=COMPLAINT)
    assert happens(ProcessExited, CAMERA, returncode=0) == []


def test_a_node_that_died_may_start_again() -> None:
    endings.end_if_it_cannot_start(_ended(CAMERA, -9), LaunchContext())


def test_a_required_node_ends_the_launch_with_its_work_or_with_its_failure() -> None:
    context = LaunchContext()
    assert isinstance(endings.end_with(_ended(CAMERA, 0), context), Shutdown)
    with pytest.raises(RuntimeError, match="camera-1 was required and ended with exit code 1"):
        endings.end_with(_ended(CAMERA, 1), context)


@pytest.mark.parametrize(
    ("table", "argument"),
    [
        (BACKENDS, policy_arguments.policy_argument),
        (SELECTORS, lambda graph: policy_arguments.selector_argument(graph)[1]),
    ],
)
def test_what_is_in_the_table_can_be_chosen(
    table: OpenTable[Any], argument: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row is all it takes; one that cannot be loaded hides no other, and is offered so that it can say why."""
    default = ("replay",) if argument is policy_arguments.policy_argument else ()
    before = argument("piper", *default)
    assert "mine" not in before.choices
    kind, module = ROW_KINDS[table.group]
    (tmp_path / "my_rows.py").write_text(
        f"from kc_vla.core.options import NoOptions\nfrom {module} import {kind}\n"
        f"MINE = {kind}('what I made', NoOptions, print)\n"
        f"SIMULATED = {kind}('for no Piper', NoOptions, print, graphs=('maniskill',))\n"
    )
    rows = {"mine": "my_rows:MINE", "simulated": "my_rows:SIMULATED", "broken": "my_rows:ABSENT"}
    install(tmp_path, monkeypatch, table.group, rows)
    monkeypatch.delitem(sys.modules, "my_rows", raising=False)
    offered = argument("piper", *default)
    assert set(offered.choices) == {*before.choices, "mine", "broken"}
    assert "mine: what I made" in offered.description
    assert "broken: of the package elsewhere, which cannot be loaded" in offered.description
    assert {"mine", "simulated"} <= set(argument("maniskill", *default).choices)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"policy": "learned"}, "keyframe_selector_driven"),
        ({"policy": "expert"}, "keyframe_selector"),
        ({}, "keyframe_selector"),
        ({"policy": "learned", "models": "mine"}, "keyframe_selector"),
        ({"policy": "learned", "model": "keyframe_selector"}, "keyframe_selector"),
        ({"policy": "expert", "model": "my_own", "models": "mine"}, "my_own"),
    ],
)
def test_the_selector_is_that_which_is_named_or_knows_the_tempo_of_what_moves_the_arm(
    given: dict[str, str], name: str, context: LaunchContext
) -> None:
    context.launch_configurations.update({"model": "", "models": ""} | given)
    assert ModelOfSelector().perform(context) == name


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A folder of models with a policy that was taught with marked keyframes, and one with those of events."""
    write_taught_policy(tmp_path, "marked")
    write_taught_policy(tmp_path, "mine", keyframes="events")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ({"policy": "learned", "policy_model": "mine"}, "events"),
        ({"policy": "learned", "policy_model": "mine", "selector": "rules"}, "rules"),
        ({"policy": "learned", "policy_model": "marked"}, "learned"),
        ({"policy": "learned", "policy_model": "unknown"}, "learned"),
        ({"policy": "replay", "policy_model": "mine"}, "learned"),
        ({"policy": "expert", "task": "counting"}, "learned"),
        ({"policy": "expert", "task": "kitchen"}, "oracle"),
        ({"policy": "expert", "task": "kitchen", "selector": "events"}, "events"),
    ],
)
def test_keyframes_are_selected_as_the_policy_was_taught_unless_a_source_is_named(
    given: dict[str, str], source: str, policies: Path, context: LaunchContext
) -> None:
    context.launch_configurations.update({"selector": "auto", "policy_models": str(policies)} | given)
    assert ChosenSelector().perform(context) == source


def test_words_that_are_no_backend_can_be_added() -> None:
    argument = policy_arguments.policy_argument("replay", "auto", {"auto": "as it was", "none": "nothing"})
    assert argument.choices[:2] == ["auto", "none"]
    assert {"replay", "scripted"} <= set(argument.choices)
    assert "expert" not in argument.choices


def test_what_can_be_chosen_is_known_without_what_it_needs() -> None:
    """On an installed ROS 2 the launch runs in the system's Python, which has none of it."""
    modules = ", ".join(f"kc_vla.launching.{file.stem}" for file in Path(graph.__file__).parent.glob("[a-z]*.py"))
    heavy = ("onnxruntime", "rclpy", "can", "PIL", "msgpack", "scipy", "cv2", "networkx")
    program = f"import sys, {modules}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
