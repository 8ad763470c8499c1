"""Episodes in which a choice depends on a keyframe: what was where before it was moved.

Each is simulated without images: keyframes are the simulator's own, detections its truth. They are joined by time and
stored as in the nodes. After the moves the memory is asked, with its keyframes and without.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kc_vla.core.files import write_whole
from kc_vla.core.lines import append_line, read_lines
from kc_vla.core.shares import Share
from kc_vla.memory.asking.answering import Asker
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.episodic.joining import DetectedScene, KeyframeJoin
from kc_vla.memory.episodic.linked import LinkedKeyframe
from kc_vla.memory.intake import detection_of
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.long_term import OwnScene
from kc_vla.memory.robot.robot_memory import LONG, assemble_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla_sim.frame import BASE_FRAME, SimulatedFrame
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.simulator import Simulator

FIRST_SEED = 60_000
"""No other evaluation or data set has seeds from here on."""
EPISODES, TABLE, RESULTS = "episodes.jsonl", "table.md", "results.json"
_MAP, _REST, _EVERY = "table", 20, 10
"""Steps after the last move until the question; and between two frames that the scene graph takes in."""
_BEGAN_NS = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class EpisodicTask:
    """A kind of episode.

    Attributes:
        name: of the task in the table.
        question: that is asked after the moves.
        now: the same question for the present, which needs no keyframe.
        plays: the robot's expert plays; otherwise the robot waits and looks on.
    """

    name: str
    question: str
    now: str
    plays: bool


TASKS = (
    EpisodicTask(
        "identity", "which cube was in the middle before somebody moved them?", "which cube is in the middle?", False
    ),
    EpisodicTask(
        "spatial", "which cube was in the middle of the stack at the start?", "which cube is in the middle?", True
    ),
)


@dataclass(frozen=True)
class EpisodicOutcome:
    """What came of an episode.

    Attributes:
        task: its name.
        seed: of the episode.
        right: whether the memory with keyframes named the right cube.
        now_right: whether the cube that is there now is the right one.
        blind_known: whether the memory without keyframes claimed to know.
        guess_right: whether a guess among the cubes was right, for chance.
        keyframes: that were linked.
        answer: of the memory with keyframes.
        ask_ms: time for that answer.
    """

    task: str
    seed: int
    right: bool
    now_right: bool
    blind_known: bool
    guess_right: bool
    keyframes: int
    answer: str
    ask_ms: float


def evaluate_episodic(output: Path, embedder: Embedder, tasks: Sequence[EpisodicTask], episodes: int) -> str:
    """Play the episodes that are not in a folder yet, and return the table of all; it is written there, too.

    Args:
        output: folder of the results; the same command goes on where it was interrupted.
        embedder: of the memory.
        tasks: to be played.
        episodes: of each task.

    Raises:
        OSError: the folder cannot be used.
    """
    output.mkdir(parents=True, exist_ok=True)
    done = list(read_lines(output / EPISODES, lambda row: EpisodicOutcome(**row)))
    played = {(each.task, each.seed) for each in done}
    simulator: Simulator | None = None
    for task in tasks:
        for seed in range(FIRST_SEED, FIRST_SEED + episodes):
            if (task.name, seed) in played:
                continue
            simulator = simulator or Simulator(draw=False)
            outcome = play_episodic(simulator, embedder, task, seed)
            append_line(output / EPISODES, asdict(outcome))
            done.append(outcome)
    wanted = {(task.name, seed) for task in tasks for seed in range(FIRST_SEED, FIRST_SEED + episodes)}
    counted = [each for each in done if (each.task, each.seed) in wanted]
    write_whole(output / RESULTS, json.dumps(_results(counted), indent=1) + "\n")
    text = table(counted)
    write_whole(output / TABLE, text)
    return text


def play_episodic(simulator: Simulator, embedder: Embedder, task: EpisodicTask, seed: int) -> EpisodicOutcome:
    """Play an episode, and ask what was where before."""
    chance = random.Random(seed)
    frames, keyframes = _played(simulator, task, seed)
    names = [each.object_id for each in frames[0].detections]
    numbers = list(range(1, len(names) + 1))
    chance.shuffle(numbers)  # the simulator's names say where things began
    called = {name: f"Cube_{number}" for name, number in zip(names, numbers, strict=True)}
    right = called[_middle_at_start(frames[0])]
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.db") as store:
        memory = LongTermMemory(store)
        _remember(memory, f"{task.name}-{seed}", frames, keyframes, called)
        asked = assemble_robot_memory(LONG, embedder, OwnScene(memory, _MAP), None)
        around = HomeSurroundings({}, "", (_BEGAN_NS + _stamp(frames[-1])) / 1e9)
        asker = Asker(asked, lambda: around)
        began_s = time.perf_counter()
        answer = asker.ask(task.question)
        took_s = time.perf_counter() - began_s
        now = asker.ask(task.now)
        linked = len(memory.linked(_MAP).keyframes)
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.db") as store:
        memory = LongTermMemory(store)
        _remember(memory, f"{task.name}-{seed}", frames, (), called)
        blind = assemble_robot_memory(LONG, embedder, OwnScene(memory, _MAP), None)
        without = Asker(blind, lambda: around).ask(task.question)
    return EpisodicOutcome(
        task.name,
        seed,
        [each.object_id for each in answer.found] == [right] and answer.known,
        [each.object_id for each in now.found] == [right] and now.known,
        without.known,
        chance.choice(sorted(called.values())) == right,
        linked,
        answer.text,
        1e3 * took_s,
    )


def _played(
    simulator: Simulator, task: EpisodicTask, seed: int
) -> tuple[list[SimulatedFrame], Mapping[int, tuple[int, str]]]:
    """Return the frames of an episode up to the question, and phase and label of each frame that is a keyframe."""
    frame = simulator.reset(task.name, seed)
    frames, rest = [frame], _REST
    while not frame.done and rest:
        frame = simulator.step(simulator.expert.plan(1)[0][0]) if task.plays else simulator.hold()
        frames.append(frame)
        if not task.plays and simulator.decisions:  # the other arm has done
            rest -= 1
    keyframes = {each.index: (each.keyframe_index, each.keyframe) for each in frames if each.keyframe is not None}
    return frames, keyframes


def _remember(
    memory: LongTermMemory,
    episode_id: str,
    frames: Sequence[SimulatedFrame],
    keyframes: Mapping[int, tuple[int, str]] | tuple[()],
    called: Mapping[str, str],
) -> None:
    """Let a memory see an episode, as the nodes do: detections for the graph, keyframes joined with them by time."""
    join = KeyframeJoin()
    for frame in frames:
        stamp_ns = _BEGAN_NS + _stamp(frame)
        seen = tuple(_things(frame, called))
        join.detected(DetectedScene(stamp_ns, stamp_ns, episode_id, seen))
        if keyframes and frame.index in keyframes:
            phase, label = keyframes[frame.index]
            kept = LinkedKeyframe(episode_id, frame.index, stamp_ns, phase, label, "oracle", BASE_FRAME)
            join.committed(kept, stamp_ns)
        for linked in join.joined(stamp_ns):
            memory.link(_MAP, linked)
        if frame.index % _EVERY == 0 or frame is frames[-1]:
            memory.observe(_MAP, [detection_of(each) for each in seen], stamp_ns)


def _things(frame: SimulatedFrame, called: Mapping[str, str]) -> Iterable[ObservedThing]:
    for each in frame.detections:
        name = called[each.object_id]
        attributes = dict(each.attributes)
        yield ObservedThing(
            each.object_type, name, each.pose.position, each.size, each.state, attributes, "", "", "", True
        )


def _middle_at_start(frame: SimulatedFrame) -> str:
    """Return the cube in the middle of a row along y, or of a stack."""
    heights = [each.pose.position[2] for each in frame.detections]
    axis = 2 if max(heights) - min(heights) > 0.02 else 1
    ordered = sorted(frame.detections, key=lambda each: each.pose.position[axis])
    return ordered[len(ordered) // 2].object_id


def _stamp(frame: SimulatedFrame) -> int:
    return round((frame.index + 1) * 1e9 / CONTROL_RATE)


def _of(outcomes: Sequence[EpisodicOutcome], column: str) -> Share:
    return Share(sum(bool(getattr(each, column)) for each in outcomes), len(outcomes))


def _groups(outcomes: Sequence[EpisodicOutcome]) -> dict[str, list[EpisodicOutcome]]:
    names = dict.fromkeys(each.task for each in outcomes)
    return {name: [each for each in outcomes if each.task == name] for name in names}


def table(outcomes: Sequence[EpisodicOutcome]) -> str:
    """Return the outcomes as a table in Markdown, shares in percent with Wilson's 95 % interval."""
    lines = [
        "| task | episodes | right with keyframes, % | right by the present places, % | right by a guess, % "
        "| answered without keyframes |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, some in _groups(outcomes).items():
        shares = [_of(some, column) for column in ("right", "now_right", "guess_right")]
        lines.append(f"| `{name}` | {len(some)} | {' | '.join(map(str, shares))} | {_of(some, 'blind_known').right} |")
    return "\n".join(lines) + "\n"


def _results(outcomes: Sequence[EpisodicOutcome]) -> dict[str, Any]:
    return {
        name: {
            "episodes": len(some),
            **{
                column: {"share": _of(some, column).share, "interval": _of(some, column).interval}
                for column in ("right", "now_right", "guess_right", "blind_known")
            },
            "slowest_ask_ms": max(each.ask_ms for each in some),
            "wrong": [{"seed": each.seed, "answer": each.answer} for each in some if not each.right],
        }
        for name, some in _groups(outcomes).items()
    }
