"""Node `short_term_memory`: keeps what was just seen or used, and recalls what an instruction is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.core.stamps import nanoseconds
from kc_vla.inference.background_work import BackgroundWork
from kc_vla.inference.worker import JobOutcome
from kc_vla.memory.live_units import DetectionIntake, News, Recalled, UnitChanges
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.detections import DetectionFeed, Job, taken_from
from kc_vla.ros.process import run_node
from kc_vla.ros.short_term_parameters import ShortTermParameters
from kc_vla.ros.state_questions import StateQuestions
from kc_vla.ros.units import (
    change_message,
    changes_message,
    changes_response,
    filters_from,
    recall_response,
    units_from,
)
from kc_vla.ros.units_publisher import UnitsPublisher
from kc_vla.ros.viewpoints import viewpoint_from
from kc_vla.ros.work import Service, runner, serve
from kc_vla_msgs.msg import MemoryUnits, ObjectDetections
from kc_vla_msgs.srv import (
    AttendUnits,
    ForgetUnits,
    MemoryStatistics,
    ObserveUnits,
    RecallUnits,
    TellRecall,
    UnitsSince,
)

_WAITING = 100
"""Messages, and questions, that wait at most."""
_COUNTED = ("added", "merged", "refused", "evicted", "confirmed", "demoted", "removed", "recalls", "failed")


class _Reported(NamedTuple):
    """What became of units, and what changed since the revision of a client that follows; else None."""

    news: list[News]
    changes: UnitChanges | None


class ShortTermMemoryNode(StackNode):
    """The node `short_term_memory`, which remembers what was just seen and used."""

    Parameters = ShortTermParameters
    parameters: ShortTermParameters

    def __init__(self) -> None:
        super().__init__("short_term_memory")

    def start(self) -> None:
        """Open the model of sentences and the services."""
        values = self.parameters
        try:
            self._live = values.opened()
        except StackError as error:
            raise StartError(str(error)) from error
        self._intake = values.intake(self)
        name, timeout = "the short-term memory", values.answer_timeout
        self._work = runner(self, False, name, _WAITING, timeout, refusals=(StackError,))
        self._trouble = ""
        self._publisher = UnitsPublisher(self, self._live, self._work)
        preparation = BackgroundWork(self._live.prepare, self._work, self._on_prepared)
        self._prepare_soon = self.from_any_thread(preparation.go_on)  # after a response that is being made is sent
        self._reading: StateQuestions | None = None
        if (reader := self._live.sight.reader) is not None:
            self._reading = StateQuestions(self, self._live, reader, self._work, self._on_read)
        if values.detections:
            DetectionFeed(self, self._work, self._job_of, self._on_heard, _WAITING)
        serve(self, self._work, self._offers())

    def stop(self) -> None:
        """Leave what is being worked out to itself."""
        self._work.close()
        if self._reading is not None:
            self._reading.close()
        if self._live.sight.crops is not None:
            self._live.sight.crops.close()

    def details(self) -> dict[str, object]:
        """Return how full the memory is, and what has gone through it."""
        if not self.works:
            return {}
        told = {"units": len(self._live.memory), "embedding": self._live.embedding, **self._live.tally}
        crops, reader = self._live.sight.crops, self._live.sight.reader
        if crops is not None:
            told |= {"crops": len(crops), "crop_bytes": crops.size, "crop_problem": crops.problem or "none"}
        if reader is not None:
            told |= {"states_from": reader.source, **{f"states_{name}": count for name, count in reader.tally.items()}}
        return told

    # -- what is seen -------------------------------------------------------------------------------------------

    def _job_of(self, message: ObjectDetections) -> Job:
        now_ns = self._now_ns()
        taken = taken_from(message, self._intake, now_ns)
        return lambda: (taken.episode_id, self._live.take(taken, self._intake.frame, now_ns))

    def _on_heard(self, outcome: JobOutcome[tuple[str, DetectionIntake]]) -> None:
        try:
            episode_id, heard = outcome.result()
        except StackError as error:
            self.problem(str(error))
            return
        self.problem(self._trouble or (heard.refused[0] if heard.refused else ""))
        self._changed(heard.news, episode_id)

    def _on_read(self, news: Sequence[News], problem: str) -> None:
        self._trouble = problem
        self.problem(problem)
        self._changed(news)

    def _on_prepared(self, error: str) -> None:
        self._trouble = f"questions cannot be answered: {error}" if error else ""
        if error:
            self.problem(self._trouble)

    def _changed(self, news: Sequence[News], episode_id: str = "") -> None:
        self._publisher.publish(news, episode_id)
        self._prepare_soon()

    # -- services -----------------------------------------------------------------------------------------------

    def _offers(self) -> tuple[Service, ...]:
        live, publisher = self._live, self._publisher
        return (
            (ObserveUnits, topics.OBSERVE_UNITS, self._observe, self._observed),
            (RecallUnits, topics.RECALL_UNITS, self._recall, recall_response),
            (TellRecall, topics.TELL_RECALL, self._tell, self._told),
            (AttendUnits, topics.ATTEND_UNITS, lambda asked: live.attend(asked.task, asked.ids), self._attended),
            (ForgetUnits, topics.FORGET_UNITS, lambda asked: live.forget(), lambda *_: publisher.publish_soon()),
            (UnitsSince, topics.UNITS_SINCE, lambda asked: live.since(asked.revision), changes_response),
            (MemoryStatistics, topics.MEMORY_STATISTICS, lambda asked: publisher.all_units(), self._counted),
        )

    def _observe(self, request: ObserveUnits.Request) -> _Reported:
        units = units_from(request.units, self._intake.frame, self._now_ns())
        return self._followed(request, self._live.observe(units, request.used, request.whole))

    def _observed(self, response: ObserveUnits.Response, found: _Reported) -> None:
        if found.changes is None:
            response.changes = [change_message(each) for each in found.news]
        else:
            response.since = changes_message(found.changes)
        self._changed(found.news)

    def _recall(self, request: RecallUnits.Request) -> Recalled:
        filters = filters_from(request, self._intake.frame, self._now_ns())
        tokens = int(request.most_tokens) or None
        answer = self._live.answer(request.text, int(request.k) or 3, filters, tokens, viewpoint_from(request))
        return self._live.recalled(answer)

    def _tell(self, request: TellRecall.Request) -> _Reported:
        now_ns = nanoseconds(request.stamp) or self._now_ns()
        return self._followed(request, [self._live.tell(request.object_id, request.outcome, now_ns)])

    def _told(self, response: TellRecall.Response, found: _Reported) -> None:
        (news,) = found.news
        response.change = change_message(news)
        if found.changes is not None:
            response.since = changes_message(found.changes)
        self._changed(found.news)

    def _followed(self, request: ObserveUnits.Request | TellRecall.Request, news: list[News]) -> _Reported:
        """Return what became of units with what changed, in the job that changed them: nothing comes in between."""
        return _Reported(news, self._live.since(request.revision) if request.follows else None)

    def _attended(self, response: AttendUnits.Response, nothing: None) -> None:
        response.reads = self._live.sight.reader is not None

    def _counted(self, response: MemoryStatistics.Response, held: MemoryUnits) -> None:
        response.held, response.embedding = held, self._live.embedding
        for name in _COUNTED:
            setattr(response, name, self._live.tally[name])

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)


def main() -> None:
    """Run the node."""
    run_node(ShortTermMemoryNode)
