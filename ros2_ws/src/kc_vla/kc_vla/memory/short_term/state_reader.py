"""Reads the state of the objects of interest from their crops while the robot works (KARMA, 3.4), within a budget.

A question is three steps, so that no memory waits for a server: `next` and `take_in` are quick and belong to the thread
of the memory, `ask` waits for the server and belongs to another one.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from kc_vla.memory.images.crop import CropError
from kc_vla.memory.images.store import CropStore
from kc_vla.memory.served import Server, ServerError, ServerSettings
from kc_vla.memory.short_term.memory import ShortTermMemory, UnitChange
from kc_vla.memory.short_term.state_from_image import states_from_image
from kc_vla.memory.short_term.unit import MOST_LETTERS, ObjectState, UnitError, plain

A_MINUTE = 6
AGAIN_S = 10.0
MOST_ANSWER_TOKENS = 500
MOST_INTEREST = 100
_WINDOW_S = 60.0
_NO_SERVER = "no vision-language model is configured: states come with the detections alone"


@dataclass(frozen=True)
class StateQuestion:
    """What a model is asked of one object.

    Attributes:
        object_id: of its unit.
        object_type: as `Unit.object_type`.
        task: that the robot has.
        image: the crop, JPEG.
        stamp: of the crop, s.
    """

    object_id: str
    object_type: str
    task: str
    image: bytes
    stamp: float


@dataclass(frozen=True)
class StateReading:
    """What a model answered.

    Attributes:
        object_id: of the unit.
        stamp: of the crop, s.
        state: that the crop shows; None where nothing was read.
        source: what read it, for `Unit.state_source`: "image: MODEL".
        problem: why nothing was read, in one line; empty where something was.
    """

    object_id: str
    stamp: float
    state: ObjectState | None = None
    source: str = ""
    problem: str = ""


class StateReader:
    """Asks a vision-language model for states, of the objects of interest alone.

    It asks of a unit whose crop is newer than any state that was seen of it: a detector that gives a state with each
    detection is believed, and costs no question.
    """

    def __init__(
        self,
        settings: ServerSettings | None,
        a_minute: int = A_MINUTE,
        again_s: float = AGAIN_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make a reader; nothing is sent yet.

        Args:
            settings: of the model; None where none is configured: then nothing is ever asked. A request that fails is
                not repeated, whatever they say, so that the budget holds.
            a_minute: requests within any minute, at most.
            again_s: between two questions about one object, s.
            clock: s, which never goes back.

        Raises:
            ServerError: the settings make no sense.
            UnitError: the budget is below 1, or `again_s` is negative.
        """
        if a_minute < 1 or not again_s >= 0:
            raise UnitError(f"{a_minute} questions a minute, {again_s} s between two: give 1 and 0 s or more")
        self._server: Server | None = None
        if settings is not None:
            tokens = min(settings.most_tokens, MOST_ANSWER_TOKENS)
            self._server = Server(replace(settings, retries=0, most_tokens=tokens))
        self._a_minute, self._again_s, self._clock = a_minute, again_s, clock
        self._task = ""
        self._asked: dict[str, tuple[float, float]] = {}
        """For each object of interest, when it was asked about last, by the clock, and the stamp of that crop."""
        self._times: deque[float] = deque()
        self.tally: Counter[str] = Counter()

    @property
    def source(self) -> str:
        """Return what is said to have read a state: "image: MODEL"; empty where no server is configured."""
        return "" if self._server is None else f"image: {plain(self._server.settings.model)}"[:MOST_LETTERS]

    def begin(self, task: str, object_ids: Collection[str]) -> None:
        """Begin an instruction.

        Args:
            task: the instruction.
            object_ids: of the objects that it is about, the first 100; empty: none is of interest.
        """
        self._task = task[: 10 * MOST_LETTERS]
        never = float("-inf"), float("-inf")
        self._asked = {each: self._asked.get(each, never) for each in list(object_ids)[:MOST_INTEREST]}

    def next(self, memory: ShortTermMemory, crops: CropStore) -> StateQuestion | None:
        """Return what is to be asked now, and count it; None where nothing is due or the minute's budget is spent.

        Of several objects it is the one that was asked about longest ago.
        """
        now = self._clock()
        while self._times and now - self._times[0] >= _WINDOW_S:
            self._times.popleft()
        if self._server is None or len(self._times) >= self._a_minute:
            return None
        for object_id in sorted(self._asked, key=lambda each: self._asked[each][0]):
            question = self._question(object_id, memory, crops, now)
            if question is not None:
                self._asked[object_id] = now, question.stamp
                self._times.append(now)
                self.tally["asked"] += 1
                return question
        return None

    def ask(self, question: StateQuestion) -> StateReading:
        """Ask the model, and wait for it at most for the time-out of its settings; never raises for its answer."""
        nothing = StateReading(question.object_id, question.stamp)
        if self._server is None:
            return replace(nothing, problem=_NO_SERVER)
        try:
            states = states_from_image(self._server, question.image, question.task, [question.object_type])
        except (ServerError, UnitError) as error:
            self.tally["failed"] += 1
            return replace(nothing, problem=f"no state of {plain(question.object_id)[:40]!r} was read: {error}")
        self.tally["read"] += 1
        return replace(nothing, state=states[question.object_type], source=self.source)

    def take_in(self, memory: ShortTermMemory, reading: StateReading) -> UnitChange | None:
        """Put a state into the memory; None where nothing was read, or the unit left meanwhile."""
        if reading.state is None or reading.object_id not in memory:
            return None
        return memory.read_state(reading.object_id, reading.state, reading.source, reading.stamp)

    def _question(self, object_id: str, memory: ShortTermMemory, crops: CropStore, now: float) -> StateQuestion | None:
        stamp = crops.stamp(object_id)
        asked_at, asked_stamp = self._asked[object_id]
        if object_id not in memory or stamp is None or now - asked_at < self._again_s:
            return None
        if stamp <= max(asked_stamp, memory.state_seen(object_id)):
            return None
        try:
            image = crops.read(crops.reference(object_id))
        except CropError:
            return None  # it had to go meanwhile; a newer one is asked about
        return StateQuestion(object_id, memory[object_id].object_type, self._task, image, stamp)
