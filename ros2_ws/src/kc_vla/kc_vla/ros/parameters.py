"""Node parameters as one frozen dataclass per node: type, default, bounds and description stand in one place.

The dataclass is declared to ROS; every later change is checked against it and refused with a reason.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, TypeVar, get_type_hints

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from kc_vla.core.deprecation import deprecated
from kc_vla.ros.given_parameters import for_many, started_by_launch

_QOS_OF_ROS = "qos_overrides."
"""Begin of parameters that ROS declares later, with the topic that they are about."""

P = TypeVar("P", bound="NodeParameters")


@dataclass(frozen=True)
class _Rule:
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    fixed: bool = True
    check: Callable[[Any], object] = lambda value: None
    former: str = ""


def parameter(
    default: Any,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    fixed: bool = True,
    check: Callable[[Any], object] = lambda value: None,
    former: str = "",
) -> Any:
    """Return a dataclass field that is a ROS parameter.

    Args:
        default: its type is the type of the parameter; nan for a number that may be left out.
        description: one line, with the unit.
        low, high: bounds of a number, both included.
        choices: the only allowed values of a text.
        fixed: True if it cannot change while the node runs.
        check: called with a value that has passed all the above; refuses it with a `ValueError`, whose text says why.
        former: name that is read for one more version in place of the field's; empty: none.
    """
    rule = _Rule(description, low, high, tuple(choices), fixed, check, former)
    return field(default=default, metadata={"rule": rule})


@dataclass(frozen=True)
class NodeParameters:
    """What every node has."""

    autostart: bool = parameter(True, "configure and activate at start, without a lifecycle manager")
    diagnostics_period: float = parameter(1.0, "s between two diagnostics messages", low=0.1, high=60.0)


def without_defaults(values: NodeParameters) -> dict[str, Any]:
    """Return the parameters that have another value than their default, by name."""
    return {item.name: given for item in fields(values) if (given := getattr(values, item.name)) != item.default}


class BadParameterError(ValueError):
    """A parameter with a value that it cannot have; the text says which it can."""


def declare(node: Node, kind: type[P]) -> P:
    """Declare every field of `kind` and return what a launch file or a command line has set.

    Raises:
        BadParameterError: one of them has a wrong type, lies out of bounds, or does not exist and is for this node.
    """
    values = {}
    for item in fields(kind):
        rule: _Rule = item.metadata["rule"]
        # type and bounds are checked here rather than by ROS, whose message names neither the bound nor the value
        descriptor = ParameterDescriptor(description=_describe(rule), dynamic_typing=True)
        usual = _by_former_name(node, item.name, rule.former, item.default)
        given = node.declare_parameter(item.name, usual, descriptor).value
        values[item.name] = _check(kind, item.name, given)
    _refuse_unknown(node, list(values), {item.metadata["rule"].former for item in fields(kind)})
    return kind(**values)


def _by_former_name(node: Node, name: str, former: str, default: Any) -> Any:
    """Return the value that is set by a former name, with a line that says so; the default where none is set."""
    given = node._parameter_overrides
    if not former or former not in given:
        return default
    if name in given and given[name].value != given[former].value:
        raise BadParameterError(f"parameters '{name}' and '{former}' are one: set '{name}' alone")
    deprecated(f"the parameter '{former}' of {node.get_name()} is called '{name}'")
    return given[former].value


def _refuse_unknown(node: Node, known: list[str], former: set[str]) -> None:
    """Ignore what was set for many nodes, as all nodes of ROS do, and refuse what was set for this one."""
    given = node._parameter_overrides  # rclpy has no public word for what was set from outside
    usual = [name for name in given if name not in former and not name.startswith(_QOS_OF_ROS)]
    unknown = [name for name in usual if not node.has_parameter(name)]
    if not unknown:
        return
    many = for_many(sys.argv, node.get_name(), started_by_launch(sys.argv))
    for name in unknown:
        if name not in many:
            raise BadParameterError(f"there is no parameter '{name}': {_advice(name, known)}")
    node.get_logger().info(f"ignored, as this node has no such parameter: {', '.join(unknown)}")


def _advice(name: str, known: list[str]) -> str:
    near = get_close_matches(name.lower(), known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"


def change(current: P, parameters: Sequence[Parameter]) -> tuple[P, SetParametersResult]:
    """Return the parameters after a change, or the old ones and the reason why it is refused."""
    known = {item.name: item for item in fields(current)}
    changed = {}
    for given in parameters:
        if given.name not in known:
            continue
        rule: _Rule = known[given.name].metadata["rule"]
        try:
            value = _check(type(current), given.name, given.value)
        except BadParameterError as error:
            return current, SetParametersResult(successful=False, reason=str(error))
        former = getattr(current, given.name)
        if rule.fixed and value != former and not (value != value and former != former):  # nan is not nan
            reason = f"parameter '{given.name}' cannot change while the node runs: set it in the launch file"
            return current, SetParametersResult(successful=False, reason=reason)
        changed[given.name] = value
    return replace(current, **changed), SetParametersResult(successful=True)


def _allowed(rule: _Rule) -> str:
    """Return what the rule allows, in a few words; empty if everything of the type."""
    if rule.choices:
        return "one of " + ", ".join(rule.choices)
    if rule.low is None and rule.high is None:
        return ""
    return f"{'' if rule.low is None else rule.low}..{'' if rule.high is None else rule.high}"


def _describe(rule: _Rule) -> str:
    return rule.description + (f" ({_allowed(rule)})" if _allowed(rule) else "")


def _check(kind: type[NodeParameters], name: str, value: Any) -> Any:
    rule: _Rule = next(item.metadata["rule"] for item in fields(kind) if item.name == name)
    wanted = get_type_hints(kind)[name]
    if wanted is float and type(value) is int:  # `rate: 20` in YAML means 20.0
        value = float(value)
    if type(value) is not wanted:
        kind_wanted = f"it must be of type {wanted.__name__}"
        raise BadParameterError(f"parameter '{name}' is {value!r}: {kind_wanted} - {_describe(rule)}")
    if isinstance(value, float) and math.isnan(value) and _may_be_left_out(kind, name):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise BadParameterError(f"parameter '{name}' is {value}: it must be finite - {_describe(rule)}")
    low_ok = rule.low is None or value >= rule.low
    high_ok = rule.high is None or value <= rule.high
    if not low_ok or not high_ok or (rule.choices and value not in rule.choices):
        raise BadParameterError(f"parameter '{name}' is {value!r}: allowed is {_allowed(rule)} - {rule.description}")
    try:
        rule.check(value)
    except ValueError as error:
        raise BadParameterError(f"parameter '{name}': {error}") from error
    return value


def _may_be_left_out(kind: type[NodeParameters], name: str) -> bool:
    default = next(item.default for item in fields(kind) if item.name == name)
    return isinstance(default, float) and math.isnan(default)
