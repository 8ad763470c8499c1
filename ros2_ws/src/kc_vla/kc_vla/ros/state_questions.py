"""States read from images by a model at a server, beside a memory that goes on meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kc_vla.core.errors import StackError
from kc_vla.inference.worker import JobOutcome, Runner
from kc_vla.memory.live_units import LiveUnits, News
from kc_vla.memory.short_term.state_reader import StateQuestion, StateReader, StateReading
from kc_vla.ros.base import StackNode
from kc_vla.ros.work import runner

_LOOK_S = 1.0


class StateQuestions:
    """Asks one question after the other, as far as the reader has any."""

    def __init__(
        self,
        node: StackNode,
        live: LiveUnits,
        reader: StateReader,
        work: Runner,
        done: Callable[[Sequence[News], str], None],
    ) -> None:
        """Look for questions every second.

        Args:
            node: that is starting, and closes this in its `stop`.
            live: the memory.
            reader: of its states.
            work: does the jobs of the memory.
            done: gets, on the node's thread, what a reading changed, and why nothing was read; empty where it was.
        """
        self._live, self._reader, self._work, self._done = live, reader, work, done
        self._asking = runner(node, False, "the reader of states", refusals=(StackError,))
        self._busy = False
        node.every(_LOOK_S, self._look)

    def close(self) -> None:
        """Leave a question that is being asked to itself."""
        self._asking.close()

    def _look(self) -> None:
        if not self._busy:
            self._busy = True
            self._work.submit(self._live.next_question, self._on_question)

    def _on_question(self, outcome: JobOutcome[StateQuestion | None]) -> None:
        try:
            question = outcome.result()
        except StackError:  # the memory had no time: the next second
            question = None
        if question is None:
            self._busy = False
            return
        self._asking.submit(lambda: self._reader.ask(question), self._on_reading)

    def _on_reading(self, outcome: JobOutcome[StateReading]) -> None:
        reading = outcome.result()
        self._work.submit(lambda: (self._live.take_reading(reading), reading.problem), self._on_taken)

    def _on_taken(self, outcome: JobOutcome[tuple[list[News], str]]) -> None:
        self._busy = False
        try:
            news, problem = outcome.result()
        except StackError as error:
            news, problem = [], str(error)
        self._done(news, problem)
