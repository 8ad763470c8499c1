"""A question as an instruction: it is answered from what the robot remembers, and nothing moves for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kc_vla.memory.asking.answer import MemoryAnswer
from kc_vla.memory.asking.answering import Asker, Reader
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.episodic.linked import LinkedKeyframes
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.robot.robot_memory import RobotMemory
from kc_vla.memory.things import KnownThing
from kc_vla.planning.execution.results import ANSWER, InstructionResult
from kc_vla.planning.execution.robot import RememberingRobot

BY = "memory"


@dataclass
class AskedMemory:
    """What a robot is asked about: things that are given, and where it has looked.

    Attributes:
        robot: that has looked.
        namer: finds out which types a question names.
        get_things: returns all that the answers rest on, each once.
        linked: returns the keyframes that are remembered.
    """

    robot: RememberingRobot
    namer: Namer
    get_things: Callable[[], Sequence[KnownThing]]
    linked: Callable[[], LinkedKeyframes]

    @property
    def looked(self) -> dict[str, float]:
        """Return when each place was looked at, s."""
        return dict(self.robot.memory.looked)

    def things(self) -> Sequence[KnownThing]:
        """Return all things that support the answers, each once."""
        return self.get_things()


def open_asker(robot: RememberingRobot, reader: Reader, memory: RobotMemory | None = None) -> Asker:
    """Return what answers questions to a robot.

    Args:
        robot: that is asked, where it stands.
        reader: makes a checked question of a text.
        memory: that the answers rest on; None: what the robot remembers, and what is merely in sight.
    """

    def around() -> HomeSurroundings:
        return HomeSurroundings(robot.grounds.areas, robot.at, robot.now_s)

    def own_things() -> Sequence[KnownThing]:
        return list((robot.all_known() | {each.object_id: each for each in robot.memory.things()}).values())

    own = (robot.memory.namer, own_things, robot.memory.linked)
    asked = own if memory is None else (memory.namer, memory.things, memory.linked)
    return Asker(AskedMemory(robot, *asked), around, reader)


def answer_question(robot: RememberingRobot, question: str, reader: Reader) -> InstructionResult:
    """Return the result of a question: a success with the answer, or none with the honest reason.

    Args:
        robot: that remembers; it stays where it is.
        question: of a person.
        reader: makes a checked question of it.
    """
    answer = open_asker(robot, reader).ask(question)
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
