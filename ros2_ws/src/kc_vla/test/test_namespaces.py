"""A stack in a namespace: its names, its files, its diagnostics and its end are its own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from hypothesis import given
from hypothesis import strategies as st
from launch import LaunchContext
from launch.actions import EmitEvent, Shutdown
from launch.events.process import ProcessExited, ProcessStarted, ShutdownProcess
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from kc_vla.core.namespaces import name_within, suffix_of
from kc_vla.core.share import share
from kc_vla.launching import endings, graph, policies
from kc_vla.launching.namespace import InStack, namespace_of, remappings
from kc_vla.launching.parameters import SHIPPED_PARAMETERS
from kc_vla.ros.health import within

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
PLACES = st.lists(NAMES, max_size=3).map(lambda names: "/" + "/".join(names))


@given(PLACES, PLACES, NAMES)
def test_a_node_is_within_a_namespace_exactly_if_its_name_begins_with_it(here: str, deeper: str, node: str) -> None:
    full = f"{here.rstrip('/')}{deeper.rstrip('/')}/{node}"
    assert name_within(full, here) == f"{deeper}/{node}".strip("/").replace("//", "/")
    assert name_within(f"other{full}", here) == (f"other{full}" if here == "/" else None)


@given(PLACES, PLACES)
def test_stacks_in_two_namespaces_share_no_file(one: str, other: str) -> None:
    def files(namespace: str) -> list[str]:
        context = LaunchContext()
        if namespace != "/":
            context.launch_configurations["ros_namespace"] = namespace
        context.launch_configurations["output"] = "runs"
        values = [graph.state_folder().value, policies.socket_argument().default_value]
        values.append(graph.memory_arguments("home")[1].default_value)
        made = [perform_substitutions(context, normalize_to_list_of_substitutions(each)) for each in values]
        return [*made, graph.emulated_bus(namespace_of(context))]

    assert (suffix_of(one) == suffix_of(other)) == (one.replace("/", "-") == other.replace("/", "-"))
    shared = set(files(one)) & set(files(other))
    assert not shared or suffix_of(one) == suffix_of(other)


def test_the_names_of_files_in_the_root_are_as_they_were() -> None:
    context = LaunchContext()
    (store,) = [each for each in graph.memory_arguments("home") if each.name == "memory_store"]
    assert perform_substitutions(context, store.default_value) == "runs/memory.db"
    assert suffix_of("/") == suffix_of("") == ""


@pytest.mark.parametrize(("namespace", "clock"), [(None, "/clock"), ("/r1", "/r1/clock"), ("/a/b", "/a/b/clock")])
def test_time_and_frames_stay_within_the_stack(namespace: str | None, clock: str) -> None:
    """Two simulators have two clocks; of a camera with a namespace of its own they are those of its stack."""
    context = LaunchContext()
    if namespace is not None:
        context.launch_configurations["ros_namespace"] = namespace
    assert InStack("clock").perform(context) == clock
    assert {source for source, _ in remappings()} == {"/clock", "/tf", "/tf_static"}


def test_diagnostics_of_another_stack_are_not_heard() -> None:
    names = ["r1/arm_controller", "r1/wrist/camera", "r2/arm_controller", "r11/recorder", "battery"]
    message = DiagnosticArray(status=[DiagnosticStatus(name=name) for name in names])
    node: Any = SimpleNamespace(get_namespace=lambda: "/r1")
    assert [status.name for status in within(node, message).status] == ["arm_controller", "wrist/camera"]
    message = DiagnosticArray(status=[DiagnosticStatus(name=name) for name in names])
    node = SimpleNamespace(get_namespace=lambda: "/")
    assert [status.name for status in within(node, message).status] == names


def _started(context: LaunchContext, namespace: str, *names: str) -> list[ProcessStarted]:
    if namespace:
        context.launch_configurations["ros_namespace"] = namespace
    else:
        context.launch_configurations.pop("ros_namespace", None)
    found = []
    for name in names:
        action = graph.node(name, view="wrist" if name == "camera" else "")
        action._ros_words(context)  # what executing it does before it starts a process
        pid = len(endings._launch.actions) + 1
        event = ProcessStarted(action=action, name=f"{name}-{pid}", cmd=[], cwd=None, env=None, pid=pid)
        endings._note_start(event, context)
        found.append(event)
    return found


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> LaunchContext:
    monkeypatch.setattr(endings, "_launch", endings._Launch())
    context = LaunchContext()
    context.launch_configurations |= {"params": "", SHIPPED_PARAMETERS: str(share("launch") / "params" / "piper.yaml")}
    return context


def _end(event: ProcessStarted, context: LaunchContext, returncode: int = 0) -> Any:
    ended = ProcessExited(
        action=event.action, name=event.process_name, cmd=[], cwd=None, env=None, pid=event.pid, returncode=returncode
    )
    found = endings.end_with(ended, context)
    endings._tell_at_last(ended, context)
    return found


def test_a_stack_that_is_done_ends_without_the_others_of_the_launch(context: LaunchContext) -> None:
    left = _started(context, "/left", "arm_controller", "camera", "episode_runner")
    right = _started(context, "/right", "arm_controller", "camera", "episode_runner")
    (ends,) = _end(left[-1], context)
    assert isinstance(ends, EmitEvent)
    assert isinstance(ends.event, ShutdownProcess)
    asked = [event for event in (*left[:-1], *right) if ends.event.process_matcher(event.action)]
    assert asked == left[:-1]
    for event in left[:-1]:  # also where one has to be killed: the stack was done
        assert _end(event, context, returncode=-15) is None
    assert isinstance(_end(right[-1], context), Shutdown)


@pytest.mark.parametrize("namespace", ["", "/alone"])
def test_a_launch_of_one_stack_ends_with_it(context: LaunchContext, namespace: str) -> None:
    *_, runner = _started(context, namespace, "arm_controller", "camera", "episode_runner")
    assert isinstance(_end(runner, context), Shutdown)
