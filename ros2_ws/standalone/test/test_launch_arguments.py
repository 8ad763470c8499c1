"""Arguments on the command line and their declarations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kc_vla_standalone.errors import UsageError
from kc_vla_standalone.verbs.launch import parse_launch_arguments
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

NAMES = st.text(st.characters(blacklist_characters=":=", blacklist_categories=("Cs",)), min_size=1)
VALUES = st.text(min_size=1)


@given(st.dictionaries(NAMES, VALUES))
def test_well_formed_arguments_come_through(arguments: dict[str, str]) -> None:
    texts = [f"{name}:={value}" for name, value in arguments.items()]
    assert parse_launch_arguments(texts) == arguments


@given(NAMES, VALUES, VALUES)
def test_the_last_of_a_repeated_name_counts(name: str, first: str, last: str) -> None:
    assert parse_launch_arguments([f"{name}:={first}", f"{name}:={last}"]) == {name: last}


@given(
    st.one_of(
        st.text().filter(lambda text: ":=" not in text), VALUES.map(lambda v: f":={v}"), NAMES.map(lambda n: f"{n}:=")
    )
)
def test_malformed_arguments_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="malformed launch argument"):
        parse_launch_arguments([text])


def test_default_applies_unless_given() -> None:
    context = LaunchContext()
    argument = DeclareLaunchArgument("seed", default_value="3")
    argument.visit(context)
    assert context.launch_configurations["seed"] == "3"
    context.launch_configurations["seed"] = "7"
    argument.visit(context)
    assert context.launch_configurations["seed"] == "7"


def test_default_may_refer_to_another_argument() -> None:
    context = LaunchContext()
    context.launch_configurations["seed"] = "7"
    DeclareLaunchArgument("name", default_value=["run_", LaunchConfiguration("seed")]).visit(context)
    assert context.launch_configurations["name"] == "run_7"


def test_required_argument_is_asked_for() -> None:
    with pytest.raises(RuntimeError, match=r'Required launch argument "task" .*the task to do.* was not provided'):
        DeclareLaunchArgument("task", description="the task to do").visit(LaunchContext())


def test_value_has_to_be_a_choice() -> None:
    context = LaunchContext()
    context.launch_configurations["task"] = "cooking"
    with pytest.raises(RuntimeError, match=r'"task" provided value "cooking" is not valid.*counting'):
        DeclareLaunchArgument("task", choices=["counting", "pushing"]).visit(context)


def test_default_has_to_be_a_choice() -> None:
    with pytest.raises(RuntimeError, match="is not in provided choices"):
        DeclareLaunchArgument("task", default_value="x", choices=["counting"])


def test_choices_are_part_of_the_description() -> None:
    assert "['a', 'b']" in DeclareLaunchArgument("task", choices=["a", "b"], description="What to do.").description


def test_arguments_of_a_description_with_their_conditions() -> None:
    description = LaunchDescription(
        [
            DeclareLaunchArgument("always"),
            GroupAction([DeclareLaunchArgument("sometimes")], condition=IfCondition("true")),
            DeclareLaunchArgument("always", default_value="again"),
        ]
    )
    arguments = description.get_launch_arguments()
    assert [(a.name, a._conditionally_included) for a in arguments] == [("always", False), ("sometimes", True)]
