"""What of a bag is joined to images that can be looked at, and what was wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kc_vla.cameras.calibration import Calibration
from kc_vla.core.urdf import Placed
from kc_vla.perception.recorded.camera_topics import RecordedCamera
from kc_vla.perception.view_stream import StreamSettings

FLANGE = "flange of the topic tool_pose"
"""Name of a frame that no message has: the parent of a camera that a calibration file places on the flange."""
_MOST_KINDS = 100


@dataclass(frozen=True)
class RecordedSources:
    """What of a bag is joined.

    Attributes:
        cameras: the topics of each.
        settings: of the streams.
        placed: frames that calibration files place; they count before /tf.
        lens: of a camera whose lens no topic says; None: there is none.
        tool_pose: topic of the flange's poses; empty where no camera is on it.
        rate: images a second that are looked at, of each camera.
    """

    cameras: Sequence[RecordedCamera]
    settings: StreamSettings
    placed: Sequence[Placed] = ()
    lens: Calibration | None = None
    tool_pose: str = ""
    rate: float = 5.0


class RecordedProblems:
    """What was wrong: the first line of each kind, within bounds."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        """Yield the lines in the order in which they came."""
        yield from self._lines.values()

    def note(self, line: str) -> None:
        """Take a line, unless there was one that differs in its numbers alone; an empty one says nothing."""
        kind = re.sub(r"[-+]?\d+(\.\d+)?", "N", line)
        if line and len(self._lines) < _MOST_KINDS:
            self._lines.setdefault(kind, line)
