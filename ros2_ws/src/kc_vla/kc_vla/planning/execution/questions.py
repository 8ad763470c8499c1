"""A question as an instruction: it is answered from what the robot remembers, and nothing moves for it."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.memory.asking.answer import MemoryAnswer
from kc_vla.memory.asking.answering import Asker, Reader
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.things import KnownThing
from kc_vla.planning.execution.results import ANSWER, InstructionResult
from kc_vla.planning.execution.robot import RememberingRobot

BY = "memory"


class _InSight:
    """What a robot remembers, and what it sees besides."""

    def __init__(self, robot: RememberingRobot) -> None:
        self._robot = robot
        self.namer: Namer = robot.memory.namer

    @property
    def looked(self) -> dict[str, float]:
        """Return when each place was looked at, s."""
        return self._robot.memory.looked

    def things(self) -> Sequence[KnownThing]:
        """Return what is remembered, and what is merely in sight, each once."""
        return list((self._robot.all_known() | {each.object_id: each for each in self._robot.memory.things()}).values())


def answer_question(robot: RememberingRobot, question: str, reader: Reader) -> InstructionResult:
    """Return the result of a question: a success with the answer, or none with the honest reason.

    Args:
        robot: that remembers; it stays where it is.
        question: of a person.
        reader: makes a checked question of it.
    """

    def around() -> HomeSurroundings:
        return HomeSurroundings(robot.grounds.areas, robot.at, robot.now_s)

    answer = Asker(_InSight(robot), around, reader).ask(question)
    robot.say(ANSWER, told(answer))
    return InstructionResult(
        question,
        answer.known,
        "" if answer.known else answer.text,
        BY,
        0.0,
        0.0,
        0,
        0,
        0,
        in_hand="" if robot.held is None else robot.held.object_id,
        notes=(*answer.notes, *robot.notes),
        answer=answer.text if answer.known else "",
    )


def told(answer: MemoryAnswer) -> str:
    """Return an answer in one line, with the ids that it rests on and its confidence."""
    rests = ", ".join(each.object_id for each in answer.found)
    sure = f"confidence {answer.confidence:.2f}" if answer.known else "not known"
    return f"{answer.text} [{sure}{f'; {rests}' if rests else ''}]"
