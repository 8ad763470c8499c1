"""Keyframes that nobody has marked: those that events make of the episodes that a policy learns from."""

from __future__ import annotations

from kc_vla.core.episode import Episode
from kc_vla.core.task import Task
from kc_vla.datasets.lerobot.reader import DataSet, EpisodeInfo
from kc_vla.datasets.planned import PlannedEpisode
from kc_vla.keyframes.afterwards import keyframes_afterwards
from kc_vla.keyframes.event_selector import EventSource, open_events
from kc_vla.keyframes.selectors import NetworkOptions, fitting_selector
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.selector.recorded_signals import recorded_sights
from kc_vla.learning.selector.recordings import LabeledEpisode


def of_planned(episode: PlannedEpisode) -> tuple[int, ...]:
    """Return the event keyframes of an episode with action targets, as they were found while it was recorded.

    Raises:
        DataError: nobody looked for them then.
    """
    if episode.events is None:
        raise DataError(
            f"an episode of '{episode.about['task']}', seed {episode.about['seed']}, has no events, though others of "
            "its folder have: delete the folder and collect it again with --events"
        )
    return tuple(episode.events.tolist())


class EventKeyframes:
    """Those that `policy:=learned selector:=events` finds, by the backbone that it looks with."""

    def __init__(self) -> None:
        """Open the backbone; SourceError where it cannot be had."""
        self.model = fitting_selector("learned")
        self._source: EventSource = open_events(NetworkOptions(self.model, device="cpu"))

    def of_recorded(self, data_set: DataSet, info: EpisodeInfo) -> tuple[int, ...]:
        """Find the event keyframes of an episode of a data set, annotated or not.

        Raises:
            BagError: columns or images cannot be read.
            DataError: the data set does not hold what is needed; the message names it.
        """
        name, task = f"{data_set.folder}, episode {info.index}", Task(info.task, info.instruction, ("start",))
        recording = LabeledEpisode(name, task, info.length, (), data_set, info.index, self._source.cameras)
        told = Episode("recorded", info.task, info.instruction, 0, round(1e9 / data_set.fps), True)
        return tuple(keyframes_afterwards(self._source, told, recorded_sights(recording)))
