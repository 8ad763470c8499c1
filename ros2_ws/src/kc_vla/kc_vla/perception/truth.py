"""The detector that passes on what a simulator knows of its objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class SimulatorTruth:
    """A `ListeningDetector` whose messages are published as they are."""

    camera = ""
    tolerance_s = 0.0

    def __init__(self, topic: str) -> None:
        self.topics: Mapping[str, str] = {topic: "kc_vla_msgs/msg/ObjectDetections"}

    def hear(self, topic: str, message: Any) -> None:
        """Return nothing: there is no image to look at."""

    def close(self) -> None:
        """Do nothing."""
