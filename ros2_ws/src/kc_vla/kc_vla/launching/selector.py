"""The keyframe selector of a graph, and which model it runs."""

from __future__ import annotations

from launch import LaunchContext, Substitution
from launch_ros.actions import Node

from kc_vla.core.options import options_in
from kc_vla.core.tasks import TASKS
from kc_vla.inference.models import ModelError, find_model, models_in
from kc_vla.keyframes.model import KIND
from kc_vla.keyframes.selectors import DRIVEN_SELECTOR, SELECTOR, SELECTORS, fitting_selector
from kc_vla.launching.arguments import Argument
from kc_vla.launching.graph import AGAIN, node, text, texts
from kc_vla.launching.kinds import AnyText, Checked
from kc_vla.launching.policies import AUTO, check_options, check_registry
from kc_vla.policy.model import load_policy


def model_arguments() -> tuple[Argument, ...]:
    """Return the arguments `models:=`, `model:=` and `selector_options:=`, of every graph with a selector."""
    return (
        Argument(
            "models",
            Checked(check_registry, empty=True),
            default_value="",
            description="folder with a registry of models, for selector:=learned or events; empty: the shipped models",
        ),
        Argument(
            "model",
            AnyText(),
            default_value="",
            description=f"name of the selector's model in the registry of models:=; empty: {SELECTOR}, or "
            f"{DRIVEN_SELECTOR} if a shipped model is used and policy:=learned moves the arm",
        ),
        Argument(
            "selector_options",
            Checked(check_options, empty=True),
            default_value="",
            description="options of the selector that have no argument here, such as those of another package, e.g. "
            "'{every: 5}'",
        ),
    )


class ModelOfSelector(Substitution):
    """Name of the selector's model, by the arguments `model`, `models` and, in a graph that has it, `policy`."""

    def describe(self) -> str:
        """Return a description for people, as launch prints it."""
        return "the selector's model"

    def perform(self, context: LaunchContext) -> str:
        """Return the name."""
        given = context.launch_configurations
        return fitting_selector(given.get("policy", ""), given["model"], given["models"])


class ChosenSelector(Substitution):
    """What selects the keyframes, by the arguments `selector`, `policy`, `policy_models` and `policy_model`."""

    def describe(self) -> str:
        """Return a description for people, as launch prints it."""
        return "what selects the keyframes"

    def perform(self, context: LaunchContext) -> str:
        """Return the name."""
        given = context.launch_configurations
        named: str = given["selector"]
        if named != AUTO:
            return named
        if (task := TASKS.get(given.get("task", ""))) is not None and task.tour:
            return "oracle"  # no selector learns from tours
        if given.get("policy") != "learned":
            return "learned"
        try:
            return load_policy(models_in(given["policy_models"]), given["policy_model"]).source
        except ModelError:
            return "learned"  # the policy server, which runs it, reports what is wrong


def check_selector(context: LaunchContext) -> None:
    """Check that the selector can have its options, and that the model of a learned one is there.

    Raises:
        SourceError: it cannot have them, or its package cannot be loaded.
        ModelError: the model is not there.
    """
    name = ChosenSelector().perform(context)
    SELECTORS.options_of(name, options_in(context.launch_configurations["selector_options"], "selector_options:="))
    if name == "learned":
        find_model(models_in(context.launch_configurations["models"]), ModelOfSelector().perform(context), KIND)


def selector() -> Node:
    """Return the keyframe selector, by the launch arguments of selector, robot and policy."""
    given = texts(models_folder="models", options="selector_options", robot="robot")
    return node(
        "keyframe_selector", {**given, "selector": text(ChosenSelector()), "model": text(ModelOfSelector())}, **AGAIN
    )
