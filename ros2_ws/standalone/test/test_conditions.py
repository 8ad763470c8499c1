"""Conditions in a launch context."""

from __future__ import annotations

import pytest
from launch import LaunchContext
from launch.conditions import (
    IfCondition,
    InvalidConditionExpressionError,
    LaunchConfigurationEquals,
    LaunchConfigurationNotEquals,
    UnlessCondition,
)
from launch.substitutions import LaunchConfiguration, PythonExpression


@pytest.mark.parametrize("text", ["true", "True", "TRUE", "1", " true "])
def test_true_texts(text: str) -> None:
    assert IfCondition(text).evaluate(LaunchContext())
    assert not UnlessCondition(text).evaluate(LaunchContext())


@pytest.mark.parametrize("text", ["false", "False", "0"])
def test_false_texts(text: str) -> None:
    assert not IfCondition(text).evaluate(LaunchContext())
    assert UnlessCondition(text).evaluate(LaunchContext())


@pytest.mark.parametrize("text", ["", "yes", "2", "truer"])
def test_other_texts_are_errors(text: str) -> None:
    with pytest.raises(InvalidConditionExpressionError, match="expected one of 'true', 'false', '1', '0'"):
        IfCondition(text).evaluate(LaunchContext())


def test_python_expression_as_condition() -> None:
    context = LaunchContext()
    context.launch_configurations["robot"] = "piper"
    assert IfCondition(PythonExpression(["'", LaunchConfiguration("robot"), "' == 'piper'"])).evaluate(context)


def test_configuration_equals() -> None:
    context = LaunchContext()
    context.launch_configurations["robot"] = "piper"
    assert LaunchConfigurationEquals("robot", "piper").evaluate(context)
    assert not LaunchConfigurationEquals("robot", "panda").evaluate(context)
    assert not LaunchConfigurationEquals("absent", "piper").evaluate(context)
    assert LaunchConfigurationEquals("absent", None).evaluate(context)
    assert LaunchConfigurationNotEquals("robot", "panda").evaluate(context)
