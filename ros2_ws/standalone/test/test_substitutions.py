"""Substitutions in a launch context."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from launch import LaunchContext
from launch.substitutions import (
    AndSubstitution,
    Command,
    EnvironmentVariable,
    EqualsSubstitution,
    LaunchConfiguration,
    LocalSubstitution,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
    PathJoinSubstitution,
    PythonExpression,
    SubstitutionFailure,
    TextSubstitution,
    ThisLaunchFileDir,
)


@pytest.fixture
def context() -> LaunchContext:
    context = LaunchContext()
    context.launch_configurations.update(task="counting", seed="3", fast="true")
    return context


# What upstream documents for each substitution.
CONFORMANCE = [
    (TextSubstitution(text="a b"), "a b"),
    (LaunchConfiguration("task"), "counting"),
    (LaunchConfiguration(["ta", TextSubstitution(text="sk")]), "counting"),
    (LaunchConfiguration("absent", default="fallback"), "fallback"),
    (LaunchConfiguration("absent", default=5), "5"),
    (LaunchConfiguration("absent", default=LaunchConfiguration("seed")), "3"),
    (LaunchConfiguration("absent", default=["s", LaunchConfiguration("seed")]), "s3"),
    (PathJoinSubstitution(["/a", "b", LaunchConfiguration("task")]), "/a/b/counting"),
    (PathJoinSubstitution(["/a", [LaunchConfiguration("task"), ".yaml"]]), "/a/counting.yaml"),
    (PythonExpression(["1 + ", LaunchConfiguration("seed")]), "4"),
    (PythonExpression(["'", LaunchConfiguration("task"), "' == 'counting'"]), "True"),
    (PythonExpression("math.floor(2.5)"), "2"),
    (PythonExpression("floor(2.5)"), "2"),
    (PythonExpression("os.sep", ["os"]), os.sep),
    (EnvironmentVariable("KC_TEST_ABSENT", default_value="x"), "x"),
    (EqualsSubstitution(LaunchConfiguration("seed"), 3), "true"),
    (EqualsSubstitution(LaunchConfiguration("seed"), "3.0"), "true"),
    (EqualsSubstitution(LaunchConfiguration("fast"), True), "true"),
    (EqualsSubstitution(LaunchConfiguration("task"), "pushing"), "false"),
    (NotEqualsSubstitution(LaunchConfiguration("task"), "pushing"), "true"),
    (NotSubstitution(LaunchConfiguration("fast")), "false"),
    (AndSubstitution(LaunchConfiguration("fast"), "1"), "true"),
    (AndSubstitution(LaunchConfiguration("fast"), "False"), "false"),
    (OrSubstitution("0", LaunchConfiguration("fast")), "true"),
    (OrSubstitution("false", "false"), "false"),
    (Command("echo hello world"), "hello world\n"),
    (Command(["echo ", LaunchConfiguration("task")]), "counting\n"),
    (Command("sh -c 'echo lost >&2; echo kept'", on_stderr="ignore"), "kept\n"),
]


@pytest.mark.parametrize(("substitution", "text"), CONFORMANCE, ids=lambda value: str(value)[:40])
def test_text_of_a_substitution(context: LaunchContext, substitution, text: str) -> None:
    assert context.perform_substitution(substitution) == text


@pytest.mark.parametrize(
    ("substitution", "named"),
    [
        (LaunchConfiguration("absent"), "absent"),
        (EnvironmentVariable("KC_TEST_ABSENT"), "KC_TEST_ABSENT"),
        (PythonExpression("1 +"), "1 +"),
        (PythonExpression("nonsense"), "nonsense"),
        (NotSubstitution("maybe"), "maybe"),
        (LocalSubstitution("event.pid"), "event.pid"),
        (ThisLaunchFileDir(), "outside of a launch file"),
        (Command("false"), "exit code 1"),
        (Command("/no/such/program"), "/no/such/program"),
        (Command("sh -c 'echo trouble >&2'"), "trouble"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_failure_names_what_is_missing(context: LaunchContext, substitution, named: str) -> None:
    with pytest.raises(SubstitutionFailure, match=named.replace("+", r"\+")):
        context.perform_substitution(substitution)


def test_environment_variable_reads_the_environment(context: LaunchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KC_TEST_PRESENT", "here")
    assert EnvironmentVariable("KC_TEST_PRESENT").perform(context) == "here"


def test_local_substitution_reads_attributes_and_indices(context: LaunchContext) -> None:
    context.extend_locals({"words": {"first": ["a", "b"]}})
    assert LocalSubstitution("words['first'][1]").perform(context) == "b"


def test_text_substitution_refuses_numbers() -> None:
    with pytest.raises(TypeError, match="takes text, got 3"):
        TextSubstitution(text=3)  # type: ignore[arg-type]


@given(st.text(), st.text())
def test_joined_parts_are_the_joined_texts(left: str, right: str) -> None:
    context = LaunchContext()
    context.launch_configurations["left"] = left
    default = [LaunchConfiguration("left"), TextSubstitution(text=right)]
    assert LaunchConfiguration("absent", default=default).perform(context) == left + right


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_equals_its_text(value: float) -> None:
    assert EqualsSubstitution(value, repr(value)).perform(LaunchContext()) == "true"
