"""Node `short_term_memory`: what was just seen and used, bounded, and what of it an instruction is about."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.core.stamps import nanoseconds
from kc_vla.inference.worker import JobOutcome
from kc_vla.memory.embedding.models import OFFLINE, open_embedder
from kc_vla.memory.live_units import DetectionIntake, LiveUnits, News, Recalled
from kc_vla.memory.recall.ranking import LanguageRanker
from kc_vla.memory.replacement.policies import ADAPTIVE, REPLACEMENTS
from kc_vla.memory.served import Server, ServerSettings
from kc_vla.memory.short_term.memory import LEAST_CAPACITY, MOST_CAPACITY, ShortTermMemory
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.convert import time_message
from kc_vla.ros.detections import DetectionFeed, Job, taken_from
from kc_vla.ros.memory_sight import SightParameters
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.scene import viewpoint_from
from kc_vla.ros.state_questions import StateQuestions
from kc_vla.ros.units import (
    change_message,
    filters_from,
    recall_response,
    since_response,
    units_from,
    units_message,
)
from kc_vla.ros.work import Service, runner, serve
from kc_vla_msgs.msg import MemoryChanges, MemoryUnits, ObjectDetections
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
_TELL_S = 0.5
_AGAIN_S = 10.0
"""After sentences could not be embedded; a question tries it at once."""
_COUNTED = ("added", "merged", "refused", "evicted", "confirmed", "demoted", "removed", "recalls", "failed")


@dataclass(frozen=True)
class ShortTermParameters(SightParameters):
    """Parameters of the node."""

    capacity: int = parameter(100, "units that fit", low=LEAST_CAPACITY, high=MOST_CAPACITY)
    policy: str = parameter(ADAPTIVE, f"which unit leaves: {', '.join(REPLACEMENTS.names())}", check=REPLACEMENTS.get)
    absence: float = parameter(5.0, "s out of sight after which an object is seen anew", low=0.0, high=3600.0)
    embedding: str = parameter(
        OFFLINE, "makes vectors of sentences: offline, a folder with an ONNX model, or hub:OWNER/NAME@REVISION#SHA256"
    )
    server: str = parameter("", "address of an OpenAI-compatible API for the models named here; empty: OpenAI's own")
    served_embedding: str = parameter("", "a model of that server that makes the vectors instead")
    ranker: str = parameter("", "a language model of that server that looks over answers that are not sure")
    server_timeout: float = parameter(10.0, "s for one answer of the server", low=0.1, high=600.0)
    answer_timeout: float = parameter(60.0, "s after which a question is answered with an error", low=0.1, high=3600.0)


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
            self._live = _opened(values)
        except StackError as error:
            raise StartError(str(error)) from error
        self._intake = values.intake(self)
        name, timeout = "the short-term memory", values.answer_timeout
        self._work = runner(self, False, name, _WAITING, timeout, refusals=(StackError,))
        self._changed, self._telling, self._preparing = False, False, False
        self._trouble, self._prepare_at = "", 0.0
        self._units = self.advertise(MemoryUnits, topics.SHORT_TERM_UNITS, qos.STATUS)
        self._changes = self.advertise(MemoryChanges, topics.SHORT_TERM_CHANGES, qos.EVENT)
        self._reading: StateQuestions | None = None
        if (reader := self._live.sight.reader) is not None:
            self._reading = StateQuestions(self, self._live, reader, self._work, self._on_read)
        if values.detections:
            DetectionFeed(self, self._work, self._job_of, self._on_heard, _WAITING)
        serve(self, self._work, self._offers())
        self.every(_TELL_S, self._publish_units)

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
        self._publish_changes(heard.news, episode_id)

    def _on_read(self, news: Sequence[News], problem: str) -> None:
        self._trouble = problem
        self.problem(problem)
        self._publish_changes(news)

    def _publish_changes(self, news: Sequence[News], episode_id: str = "") -> None:
        self._changed = self._changed or bool(news)
        if news and self._changes.get_subscription_count():
            message = MemoryChanges(episode_id=episode_id, changes=[change_message(each) for each in news])
            message.header.stamp = time_message(self._now_ns())
            self._changes.publish(message)
        self._prepare()

    def _prepare(self) -> None:
        """Embed what is new a little at a time: no question has to wait for all of it."""
        if not self._preparing and time.monotonic() >= self._prepare_at:
            self._preparing = True
            self._work.submit(self._live.prepare, self._on_prepared)

    def _on_prepared(self, outcome: JobOutcome[bool]) -> None:
        self._preparing, self._trouble = False, ""
        try:
            if not outcome.result():
                self._prepare()
        except StackError as error:
            self._prepare_at = time.monotonic() + _AGAIN_S
            self._trouble = f"questions cannot be answered: {error}"
            self.problem(self._trouble)

    def _publish_units(self) -> None:
        if self._changed and not self._telling and self._units.get_subscription_count():
            self._changed, self._telling = False, True
            self._work.submit(self._all_units, self._on_units)

    def _all_units(self) -> MemoryUnits:
        memory = self._live.memory
        return units_message(self._live.held(), memory.capacity, memory.policy, self._now_ns())

    def _on_units(self, outcome: JobOutcome[MemoryUnits]) -> None:
        self._telling = False
        try:
            self._units.publish(outcome.result())
        except StackError:
            self._changed = True  # it had to wait too long: the next time

    # -- services -----------------------------------------------------------------------------------------------

    def _offers(self) -> tuple[Service, ...]:
        return (
            (ObserveUnits, topics.OBSERVE_UNITS, self._observe, self._observed),
            (RecallUnits, topics.RECALL_UNITS, self._recall, recall_response),
            (TellRecall, topics.TELL_RECALL, self._tell, self._told),
            (AttendUnits, topics.ATTEND_UNITS, lambda asked: self._live.attend(asked.task, asked.ids), self._attended),
            (ForgetUnits, topics.FORGET_UNITS, lambda asked: self._live.forget(), self._forgotten),
            (UnitsSince, topics.UNITS_SINCE, lambda asked: self._live.since(asked.revision), since_response),
            (MemoryStatistics, topics.MEMORY_STATISTICS, lambda asked: self._all_units(), self._counted),
        )

    def _observe(self, request: ObserveUnits.Request) -> list[News]:
        units = units_from(request.units, self._intake.frame, self._now_ns())
        return self._live.observe(units, request.used, request.whole)

    def _observed(self, response: ObserveUnits.Response, news: list[News]) -> None:
        response.changes = [change_message(each) for each in news]
        self._publish_changes(news)

    def _recall(self, request: RecallUnits.Request) -> Recalled:
        filters = filters_from(request, self._intake.frame, self._now_ns())
        tokens = int(request.most_tokens) or None
        return self._live.ask(request.text, int(request.k) or 3, filters, tokens, viewpoint_from(request))

    def _tell(self, request: TellRecall.Request) -> News:
        now_ns = nanoseconds(request.stamp) or self._now_ns()
        return self._live.tell(request.object_id, request.outcome, now_ns)

    def _told(self, response: TellRecall.Response, news: News) -> None:
        response.change = change_message(news)
        self._publish_changes([news])

    def _attended(self, response: AttendUnits.Response, nothing: None) -> None:
        response.reads = self._live.sight.reader is not None

    def _forgotten(self, response: ForgetUnits.Response, nothing: None) -> None:
        self._changed = True

    def _counted(self, response: MemoryStatistics.Response, held: MemoryUnits) -> None:
        response.held, response.embedding = held, self._live.embedding
        for name in _COUNTED:
            setattr(response, name, self._live.tally[name])

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)


def _opened(values: ShortTermParameters) -> LiveUnits:
    """Return the memory, empty."""
    timeout = values.server_timeout
    served = ServerSettings(values.served_embedding, values.server, timeout) if values.served_embedding else None
    embedder = open_embedder(values.embedding, served)
    ranker = Server(ServerSettings(values.ranker, values.server, timeout)) if values.ranker else None
    memory = ShortTermMemory(values.capacity, values.policy, values.absence)
    sight = values.sight(values.server, timeout)
    return LiveUnits(memory, embedder, LanguageRanker(ranker) if ranker else None, sight)


def main() -> None:
    """Run the node."""
    run_node(ShortTermMemoryNode)
