import importlib
import math
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import pytest
import rclpy
from hypothesis import given
from hypothesis import strategies as st
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter

import kc_vla.nodes
from kc_vla.ros.parameters import BadParameterError, NodeParameters, change, declare, parameter


def _even(value: int) -> None:
    if value % 2:
        raise ValueError(f"{value} is odd: there are two hands")


@dataclass(frozen=True)
class Wanted(NodeParameters):
    rate: float = parameter(20.0, "Hz of the loop", low=1.0, high=100.0, fixed=False)
    frames: int = parameter(8, "frames kept", low=1, high=64, fixed=False)
    mode: str = parameter("slow", "how it runs", choices=("slow", "fast"), fixed=False)
    loud: bool = parameter(False, "speak of everything", fixed=False)
    folder: str = parameter("", "where to write")
    fingers: int = parameter(10, "of both hands", low=0, fixed=False, check=_even)
    robot: str = parameter("piper", "the robot", former="rig")


MakeNode = Callable[..., Node]


@pytest.fixture
def make_node() -> Iterator[MakeNode]:
    context = Context()
    rclpy.init(context=context)
    nodes = []

    def make(**values: object) -> Node:
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        nodes.append(Node("subject", context=context, parameter_overrides=overrides))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown(context=context)


def changed(**values: object) -> tuple[Wanted, str]:
    new, result = change(Wanted(), [Parameter(name, value=value) for name, value in values.items()])
    assert result.successful == (result.reason == "")
    return new, result.reason


def test_what_is_not_set_has_its_default(make_node: MakeNode) -> None:
    assert declare(make_node(), Wanted) == Wanted()


def test_what_a_launch_file_sets_counts(make_node: MakeNode) -> None:
    node = make_node(rate=30.5, frames=9, mode="fast", loud=True, folder="/data")
    assert declare(node, Wanted) == Wanted(rate=30.5, frames=9, mode="fast", loud=True, folder="/data")


def test_a_former_name_is_read_and_said_once(
    make_node: MakeNode, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    assert declare(make_node(robot="panda"), Wanted).robot == "panda"
    assert "deprecated" not in capfd.readouterr().err
    for _ in range(2):
        node = make_node(rig="panda")
        assert declare(node, Wanted).robot == node.get_parameter("robot").value == "panda"
        assert not node.has_parameter("rig")
    said = [line for line in capfd.readouterr().err.splitlines() if "deprecated" in line]
    assert said == ["deprecated: the parameter 'rig' of subject is called 'robot'"]
    with pytest.raises(BadParameterError, match="parameters 'robot' and 'rig' are one: set 'robot' alone"):
        declare(make_node(rig="panda", robot="piper"), Wanted)
    with pytest.raises(BadParameterError, match="parameter 'robot' is 7: it must be of type str"):
        declare(make_node(rig=7), Wanted)


def test_a_whole_number_is_a_float_too(make_node: MakeNode) -> None:
    found = declare(make_node(rate=30), Wanted)
    assert (found.rate, type(found.rate)) == (30.0, float)


def test_ros_shows_description_and_bounds(make_node: MakeNode) -> None:
    node = make_node()
    declare(node, Wanted)
    assert node.describe_parameter("rate").description == "Hz of the loop (1.0..100.0)"
    assert node.describe_parameter("mode").description == "how it runs (one of slow, fast)"


BAD = [
    ({"rate": "fast"}, "parameter 'rate' is 'fast': it must be of type float - Hz of the loop (1.0..100.0)"),
    ({"rate": True}, "parameter 'rate' is True: it must be of type float - Hz of the loop (1.0..100.0)"),
    ({"rate": math.nan}, "parameter 'rate' is nan: it must be finite - Hz of the loop (1.0..100.0)"),
    ({"rate": math.inf}, "parameter 'rate' is inf: it must be finite - Hz of the loop (1.0..100.0)"),
    ({"rate": 0.5}, "parameter 'rate' is 0.5: allowed is 1.0..100.0 - Hz of the loop"),
    ({"rate": 101}, "parameter 'rate' is 101.0: allowed is 1.0..100.0 - Hz of the loop"),
    ({"frames": 8.0}, "parameter 'frames' is 8.0: it must be of type int - frames kept (1..64)"),
    ({"frames": True}, "parameter 'frames' is True: it must be of type int - frames kept (1..64)"),
    ({"frames": 65}, "parameter 'frames' is 65: allowed is 1..64 - frames kept"),
    ({"mode": "medium"}, "parameter 'mode' is 'medium': allowed is one of slow, fast - how it runs"),
    ({"mode": 3}, "parameter 'mode' is 3: it must be of type str - how it runs (one of slow, fast)"),
    ({"fingers": -1}, "parameter 'fingers' is -1: allowed is 0.. - of both hands"),
    ({"fingers": 9}, "parameter 'fingers': 9 is odd: there are two hands"),
    ({"loud": 1}, "parameter 'loud' is 1: it must be of type bool - speak of everything"),
]


@pytest.mark.parametrize(("values", "message"), BAD)
def test_a_bad_value_is_one_clear_line_at_start_and_later(
    make_node: MakeNode, values: dict[str, object], message: str
) -> None:
    with pytest.raises(BadParameterError) as refused:
        declare(make_node(**values), Wanted)
    assert str(refused.value) == message
    assert changed(**values) == (Wanted(), message)


@given(st.floats())
def test_a_float_is_taken_exactly_if_it_is_within_its_bounds(value: float) -> None:
    new, reason = changed(rate=value)
    assert (reason == "") == (1 <= value <= 100)
    assert new == (Wanted(rate=value) if not reason else Wanted())


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_int_is_taken_exactly_if_it_is_within_its_bounds(value: int) -> None:
    new, reason = changed(frames=value)
    assert (reason == "") == (1 <= value <= 64)
    assert new == (Wanted(frames=value) if not reason else Wanted())


def test_a_change_is_whole_or_not_at_all() -> None:
    assert changed(rate=50.0, frames=0)[0] == Wanted()
    assert changed(rate=50.0, frames=3) == (Wanted(rate=50.0, frames=3), "")


def test_what_is_fixed_cannot_change_but_may_be_set_to_what_it_is() -> None:
    reason = "parameter 'folder' cannot change while the node runs: set it in the launch file"
    assert changed(folder="/data") == (Wanted(), reason)
    assert changed(folder="") == (Wanted(), "")


@pytest.mark.parametrize(
    ("name", "advice"),
    [("frame", "did you mean 'frames'?"), ("Rate", "did you mean 'rate'?"), ("exposure", "known are autostart, ")],
)
def test_a_parameter_that_does_not_exist_is_refused(make_node: MakeNode, name: str, advice: str) -> None:
    with pytest.raises(BadParameterError, match=re.escape(f"there is no parameter '{name}': {advice}")):
        declare(make_node(**{name: 3}), Wanted)


def test_what_ros_itself_declares_may_be_set(make_node: MakeNode) -> None:
    given = {"use_sim_time": True, "start_type_description_service": False, "qos_overrides./tf.publisher.depth": 3}
    assert declare(make_node(**given), Wanted) == Wanted()


def test_parameters_of_ros_itself_are_none_of_ours() -> None:
    assert changed(use_sim_time=True) == (Wanted(), "")


def _kinds() -> list[type[NodeParameters]]:
    for module in pkgutil.iter_modules(kc_vla.nodes.__path__):
        importlib.import_module(f"kc_vla.nodes.{module.name}")
    return [kind for kind in _below(NodeParameters) if kind.__module__.startswith("kc_vla.nodes.")]


def _below(kind: type[NodeParameters]) -> Iterator[type[NodeParameters]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def test_the_defaults_of_every_node_are_allowed_and_described(make_node: MakeNode) -> None:
    kinds = _kinds()
    assert len(kinds) >= 12
    for kind in kinds:
        node = make_node()
        assert declare(node, kind) == kind()
        assert all(node.describe_parameter(item.name).description for item in fields(kind))
