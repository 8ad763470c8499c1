"""Parameters of nodes: types of values, nested names, files, and what rcl reads back."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from launch import LaunchContext
from launch.substitutions import LaunchConfiguration, SubstitutionFailure, TextSubstitution
from launch_ros._parameter_yaml import parameter_value_yaml, parameter_yaml
from launch_ros._parameters import check_parameters, evaluate_parameter_dict
from launch_ros.parameter_descriptions import Parameter, ParameterFile, ParameterValue

INTEGERS = st.integers(-(2**63), 2**63 - 1)
SCALARS = st.one_of(st.booleans(), INTEGERS, st.floats(allow_nan=False), st.text())


def evaluated(value: object, **configurations: str) -> object:
    context = LaunchContext()
    context.launch_configurations.update(configurations)
    return evaluate_parameter_dict(context, {"p": value})["p"]


# What upstream documents: plain values keep their type, a substitution's text gets the type that YAML sees.
CONFORMANCE = [
    ("3", "3"),
    (3, 3),
    (True, True),
    ([1, 2], (1, 2)),
    ([1, 2.5], (1.0, 2.5)),
    (["a", "b"], ("a", "b")),
    ([True, False], (True, False)),
    (LaunchConfiguration("seed"), 3),
    (LaunchConfiguration("rate"), 2.5),
    (LaunchConfiguration("flag"), True),
    (LaunchConfiguration("word"), "counting"),
    (LaunchConfiguration("items"), (1, 2, 3)),
    (["task_", LaunchConfiguration("seed")], "task_3"),
    ([LaunchConfiguration("seed"), "0"], 30),
    ([[LaunchConfiguration("seed")], [TextSubstitution(text="4")]], (3, 4)),
    (ParameterValue(LaunchConfiguration("seed"), value_type=str), "3"),
    (ParameterValue(LaunchConfiguration("seed"), value_type=float), 3.0),
    (ParameterValue(LaunchConfiguration("seed"), value_type=int), 3),
    (ParameterValue(LaunchConfiguration("flag"), value_type=bool), True),
    (ParameterValue(LaunchConfiguration("items"), value_type=list[float]), (1.0, 2.0, 3.0)),
    (ParameterValue(["x", LaunchConfiguration("seed")], value_type=str), "x3"),
    (ParameterValue(LaunchConfiguration("seed")), 3),
    (ParameterValue(5, value_type=int), 5),
]


@pytest.mark.parametrize(("value", "expected"), CONFORMANCE, ids=lambda value: str(value)[:40])
def test_value_and_type(value: object, expected: object) -> None:
    result = evaluated(value, seed="3", rate="2.5", flag="true", word="counting", items="[1, 2, 3]")
    assert result == expected
    assert type(result) is type(expected)
    if isinstance(expected, tuple):
        assert [type(item) for item in result] == [type(item) for item in expected]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (LaunchConfiguration("empty"), "Got <class 'NoneType'> for parameter 'p'.*value_type=str"),
        (LaunchConfiguration("tree"), "Got <class 'dict'> for parameter 'p'"),
        (LaunchConfiguration("mixed"), "items of uniform type"),
        ([1, "a"], "items of uniform type"),
        ([], "non-empty sequence"),
        (None, "'p' has a value of type NoneType"),
        (ParameterValue(LaunchConfiguration("word"), value_type=int), "'p' has to be int, got 'counting'"),
        (ParameterValue(LaunchConfiguration("word"), value_type=list[int]), "'p' has to be a list"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_no_parameter_can_hold_is_an_error_with_its_name(value: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        evaluated(value, empty="", tree="{a: 1}", mixed="[1, a]", word="counting")


def test_nested_dictionaries_become_names_with_dots() -> None:
    context = LaunchContext()
    context.launch_configurations["side"] = "left"
    values = evaluate_parameter_dict(
        context, {"gripper": {"speed": 1.5, LaunchConfiguration("side"): {"on": True}}, ("a", "b"): 1}
    )
    assert values == {"gripper.speed": 1.5, "gripper.left.on": True, "ab": 1}


def test_parameters_have_to_be_a_list() -> None:
    with pytest.raises(TypeError, match="list of files and dictionaries"):
        check_parameters({"rate": 1})


@given(SCALARS)
def test_plain_scalars_are_left_alone(value: object) -> None:
    assert evaluated(value) == value


@given(st.text())
def test_a_forced_string_stays_what_was_typed(text: str) -> None:
    assert evaluated(ParameterValue(LaunchConfiguration("typed"), value_type=str), typed=text) == text


@given(st.one_of(st.booleans(), INTEGERS, st.floats(allow_nan=False, allow_infinity=False)))
def test_the_text_of_a_number_or_truth_value_gets_its_type(value: object) -> None:
    result = evaluated(LaunchConfiguration("typed"), typed=yaml.safe_dump(value).partition("\n")[0])
    assert result == value
    assert type(result) is type(value)


@given(st.dictionaries(st.text(min_size=1), SCALARS))
def test_written_files_read_back_the_same(values: dict[str, object]) -> None:
    assert yaml.safe_load(parameter_yaml(values)) == values


@given(st.one_of(SCALARS, st.lists(INTEGERS, min_size=1), st.lists(st.text(), min_size=1)))
def test_values_on_the_command_line_read_back_the_same(value: object) -> None:
    text = parameter_value_yaml(value)
    assert "\n" not in text
    assert yaml.safe_load(text) == value


def test_not_a_number_survives() -> None:
    assert math.isnan(yaml.safe_load(parameter_value_yaml(math.nan)))


def test_parameter_evaluates_name_and_value() -> None:
    context = LaunchContext()
    context.launch_configurations["n"] = "rate"
    assert Parameter(LaunchConfiguration("n"), "5", value_type=int).evaluate(context) == ("rate", 5)


def test_file_with_substitutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KC_TEST_SIDE", "left")
    path = tmp_path / "params.yaml"
    path.write_text(
        "# a comment with $(nonsense x) in it\n"
        "/**:\n  ros__parameters:\n    rate: $(var rate)\n    name: $(var task default)_$(env KC_TEST_SIDE)\n"
        "    sum: $(eval '1 + $(var rate)')\n"
    )
    context = LaunchContext()
    context.launch_configurations["rate"] = "20"
    written = ParameterFile(str(path), allow_substs=True).evaluate(context)
    values = yaml.safe_load(written.read_text())["/**"]["ros__parameters"]
    assert values == {"rate": 20, "name": "default_left", "sum": 21}
    for callback in context._end_callbacks:
        callback()
    assert not written.exists()


def test_file_without_permission_for_substitutions_is_passed_as_it_is(tmp_path: Path) -> None:
    assert ParameterFile(tmp_path / "p.yaml").evaluate(LaunchContext()) == tmp_path / "p.yaml"


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: $(nonsense x)", "unknown substitution"), ("a: [1", "not valid YAML"), ("a: $(var a b c)", "wrong arguments")],
)
def test_file_with_mistakes(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(SubstitutionFailure, match=message):
        ParameterFile(path, allow_substs=True).evaluate(LaunchContext())
