"""The keyframe selector of a graph, and which model it runs."""

from __future__ import annotations

from launch import LaunchContext, Substitution
from launch.actions import DeclareLaunchArgument
from launch_ros.actions import Node

from kc_vla.inference.models import ModelError, models_in
from kc_vla.keyframes.sources import DRIVEN_SELECTOR, SELECTOR, fitting_selector
from kc_vla.launching.graph import AGAIN, AUTO, node, text, texts
from kc_vla.policy.model import load_policy


def model_arguments() -> tuple[DeclareLaunchArgument, DeclareLaunchArgument]:
    """`models:=` and `model:=`, of every graph with a selector."""
    return (
        DeclareLaunchArgument(
            "models",
            default_value="",
            description="folder with a registry of models, for source:=learned or events; empty: the models shipped",
        ),
        DeclareLaunchArgument(
            "model",
            default_value="",
            description=f"name of the model in there; empty: {SELECTOR}, and of those shipped, where policy:=learned "
            f"moves the arm, {DRIVEN_SELECTOR}",
        ),
    )


class SelectorModel(Substitution):
    """Name of the selector's model, by the arguments `model`, `models` and, in a graph that has it, `policy`."""

    def describe(self) -> str:
        """Return what it stands for, for people."""
        return "the selector's model"

    def perform(self, context: LaunchContext) -> str:
        """Return the name."""
        given = context.launch_configurations
        return fitting_selector(given.get("policy", ""), given["model"], given["models"])


class KeyframeSource(Substitution):
    """What selects the keyframes, by the arguments `source`, `policy`, `policy_models` and `policy_model`."""

    def describe(self) -> str:
        """Return what it stands for, for people."""
        return "what selects the keyframes"

    def perform(self, context: LaunchContext) -> str:
        """Return the name."""
        given = context.launch_configurations
        source: str = given["source"]
        if source != AUTO:
            return source
        if given.get("policy") != "learned":
            return "learned"
        try:
            return load_policy(models_in(given["policy_models"]), given["policy_model"]).source
        except ModelError:
            return "learned"  # what is wrong is told by who runs it: the policy server


def selector() -> Node:
    """The keyframe selector, by the arguments `source`, `models`, `model`, `rig` and those of the policy."""
    given = texts(models_folder="models", rig="rig")
    return node(
        "keyframe_selector", {**given, "source": text(KeyframeSource()), "model": text(SelectorModel())}, **AGAIN
    )
