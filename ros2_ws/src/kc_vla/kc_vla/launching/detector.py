"""What finds objects in a graph: the arguments `detector:=` and `detector_options:=`, and the node `perception`."""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, Substitution
from launch_ros.actions import Node

from kc_vla.core import topics
from kc_vla.core.choice import offered
from kc_vla.core.options import options_in
from kc_vla.core.robot import load_robot
from kc_vla.launching.arguments import Argument, chosen
from kc_vla.launching.cameras import hand_eye_files
from kc_vla.launching.graph import AGAIN, node, text, texts
from kc_vla.launching.kinds import Checked, OneOf
from kc_vla.launching.policies import check_options
from kc_vla.perception.detectors import DETECTORS, NO_DETECTOR, TRUTH, DetectorError, reported_types

_NOTHING = "nothing is detected"


def detector_arguments(graph: str, default: str, nothing: str = _NOTHING) -> tuple[Argument, Argument]:
    """Return the arguments of a graph in `kc_vla.core.choice.GRAPHS` whose objects are detected.

    Args:
        graph: of the launch file.
        default: name of a detector, or none.
        nothing: what it means that there is none.
    """
    meanings = {NO_DETECTOR: nothing, **offered(DETECTORS, graph)}
    told = "; ".join(f"{name}: {meaning}" for name, meaning in meanings.items())
    return (
        Argument(
            "detector",
            OneOf(tuple(meanings)),
            default_value=default,
            description=f"detector of the objects for the memories; {told}",
        ),
        Argument(
            "detector_options",
            Checked(check_options, empty=True),
            default_value="",
            description="options of the detector, e.g. '{boxes: [/yolo/detections]}'",
        ),
    )


def check_detector(context: LaunchContext) -> None:
    """Check that the detector can have its options.

    Raises:
        DetectorError: it cannot, its package cannot be loaded, or its model is not there.
    """
    detected_types(context)
    if chosen(context, "detector") == NO_DETECTOR and chosen(context, "detector_options"):
        raise DetectorError("detector_options:= is given, and no detector: name one with detector:=")


def detected_types(context: LaunchContext) -> tuple[str, ...]:
    """Return the types of objects that the detector can report; none where that is not known.

    Raises:
        DetectorError: it cannot have its options, its package cannot be loaded, or its model is not there.
    """
    name = chosen(context, "detector")
    if name == NO_DETECTOR:
        return ()
    return reported_types(name, options_in(chosen(context, "detector_options"), "detector_options:="))


def perception(context: LaunchContext) -> list[Node]:
    """Return the node `perception`, by the arguments of the detector, `robot` and, in a graph that has it, `cameras`.

    There is none where nothing is detected, nor where the simulator itself publishes its truth as detections.
    """
    if chosen(context, "detector") in (NO_DETECTOR, TRUTH):
        return []
    given = texts(detector="detector", options="detector_options", robot="robot")
    file = context.launch_configurations.get("cameras", "")
    places = hand_eye_files(Path(file).expanduser(), load_robot(chosen(context, "robot"))) if file else ""
    return [node("perception", {"hand_eye": text(places), **given}, **AGAIN)]


class TruthTopic(Substitution):
    """The topic of what a simulator knows: that of the detections where the argument `detector` says so."""

    def describe(self) -> str:
        """Return a description for people, as launch prints it."""
        return "the topic of the simulator's truth"

    def perform(self, context: LaunchContext) -> str:
        """Return the name."""
        return topics.DETECTIONS if chosen(context, "detector") == TRUTH else topics.DETECTIONS_TRUTH
