"""The options of the detectors that come with the stack, a dataclass for each."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.options import OptionError, option
from kc_vla.inference.options import ModelOptions

FITS = ("stretched", "letterboxed", "padded")
"""How a camera's image was brought to the size that boxes are for."""


@dataclass(frozen=True)
class LearnedDetectorOptions(ModelOptions):
    """The options of the learned detector."""

    model: str = option("name of the model in the registry", "detector")
    threshold: float = option("least confidence of an object", 0.5, low=0.01, high=1.0)
    faint: float = option("least confidence in an object that is known already", 0.2, low=0.01, high=1.0)


@dataclass(frozen=True)
class VisionMsgsOptions:
    """The options of the detector `vision_msgs`."""

    boxes: tuple[str, ...] = option("topics of vision_msgs/Detection2DArray", ("detections_2d",))
    poses: tuple[str, ...] = option("topics of vision_msgs/Detection3DArray", ("detections_3d",))
    labels: str = option("topic of vision_msgs/LabelInfo, which names numbered classes; empty: none", "")
    names: tuple[str, ...] = option("names of numbered classes, beginning with that of 0", ())
    names_file: str = option("file of these names: a line each, or YAML such as Ultralytics' data.yaml", "")
    camera: str = option("view of the detector's images, if the messages do not name its frame", "")
    input_size: tuple[float, ...] = option(
        "width and height of the image that the boxes refer to; empty: those of the camera's image", ()
    )
    fit: str = option("how the camera's image was brought to input_size", FITS[0], choices=FITS)
    least_score: float = option("score below which an object is left out", 0.25, low=0.0, high=1.0)
    most: int = option("most objects taken from one message, those with the best scores", 100, low=1, high=1000)
    only: tuple[str, ...] = option("classes to take; empty: all", ())
    ignored: tuple[str, ...] = option("classes to leave out, such as person", ())
    track_ids: bool = option("trust the detector's ids: the same id is the same object", False)
    tolerance: float = option("s between the stamps of a message and of its image", 0.02, low=0.0, high=1.0)

    def __post_init__(self) -> None:
        if self.input_size and (len(self.input_size) != 2 or min(self.input_size) < 1.0):
            raise OptionError("option 'input_size' must be two numbers of px, width and height, such as [640.0, 640.0]")
        if not (self.boxes or self.poses):
            raise OptionError("options 'boxes' and 'poses' are both empty: name a topic of the detector")
        if self.names and self.names_file:
            raise OptionError("options 'names' and 'names_file' are both given: leave one of them out")


@dataclass(frozen=True)
class VlmOptions:
    """The options of the detector `vlm`."""

    vision_model: str = option("vision-language model, as the server calls it")
    server: str = option("address of its OpenAI-compatible API; empty: OpenAI's own", "")
    classes: tuple[str, ...] = option("classes to look for; empty: all things that a hand can move", ())
    a_minute: int = option("most images that the model gets within any minute", 6, low=1, high=600)
    server_timeout: float = option("s that one answer may take", 20.0, low=0.1, high=600.0)
    longest: int = option("px of the longest side of the image that is sent", 768, low=64, high=4096)
    most: int = option("most objects taken from one image", 50, low=1, high=500)
