"""Makes small episode bags of a Panda or a Piper, with pictures, states, commands and a person's annotation."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import TOOL_DELTA_NAMES
from kc_vla.core.robot import load_robot
from kc_vla.core.tasks import TASKS
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.exchange.bag_output import DRIVER_TOPIC, Announcement, BagOutput, picture_topic
from kc_vla.episodes.annotation_log import CONFIRMED, AnnotationLog, Mark
from kc_vla.episodes.episode_data import CommandMode

START_NS = 5_000_000_000
PERIOD_NS = 50_000_000
SIZE = 32
PIPER_NAMES = load_robot("piper").names
PANDA_NAMES = (*(f"panda_joint{k}" for k in range(1, 8)), "panda_finger_joint1", "panda_finger_joint2")
KEYFRAMES = (0, 6, 9, 15, 20)
TOPICS = ("/third_person/image_raw/compressed", "/wrist/image_raw/compressed", "/joint_states")


_SHADES = {"third_person": 40, "wrist": 90}


def picture(frame: int, keyframes: Sequence[int] = KEYFRAMES, view: str = "third_person") -> NDArray[np.uint8]:
    """What a camera saw: a bar that changes its colour at each keyframe; smooth, so that codecs change little."""
    passed = sum(keyframe <= frame for keyframe in keyframes) - 1
    pixels = np.full((SIZE, SIZE, 3), _SHADES.get(view, 130 + 11 * len(view)), np.uint8)
    colour = 255 * np.array(colorsys.hsv_to_rgb(passed / 6, 0.9, 0.9))
    pixels[8:24] = colour.astype(np.uint8)
    return pixels


def panda_joints(frame: int) -> list[float]:
    return [*(0.1 * k + 0.01 * frame for k in range(7)), 0.0123, 0.0125]


def pose(frame: int) -> list[float]:
    return [0.4 + 0.001 * frame, -0.1, 0.3, 0.6, 0.0, 0.8, 0.0]


def delta(frame: int) -> list[float]:
    return [0.001 * frame, 0.0, -0.002, 0.0, 0.01, 0.0, float(frame < 10)]


def piper_joints(time_ns: int) -> list[float]:
    """Where the joints are at a time: they never stand, so that a wrong moment shows."""
    seconds = (time_ns - START_NS) * 1e-9
    return [*(0.1 * k + 0.2 * seconds for k in range(6)), 0.035]


def piper_target(step: int) -> list[float]:
    return [*(0.2 * k + 0.01 * step for k in range(6)), 0.07]


def annotate(bag: Path, marks: Sequence[tuple[int, int]], task: str = "counting", since: int = 0) -> None:
    """Confirm keyframes, phase and stamp of each, as Ann, who has done so `since` times before."""
    labels = TASKS[task].keyframes
    rows = [
        Mark((stamp - START_NS) // PERIOD_NS, stamp, phase, labels[phase], "person", 0.5 if phase else 1.0)
        for phase, stamp in marks
    ]
    AnnotationLog(bag).append("ann", since, CONFIRMED, rows, "confirmed")


def write_panda_bag(
    output: Path,
    name: str,
    length: int = 24,
    keyframes: Sequence[int] = KEYFRAMES,
    task: str = "counting",
    annotated: bool = True,
    instruction: str | None = None,
    views: Sequence[str] = DEFAULT_VIEWS,
    changes: Sequence[int] = (),
) -> Path:
    """Write an episode in lock-step, as the simulator's bridge makes it, and return its bag.

    A person takes over and hands back after these `changes`, frames.
    """
    said = instruction or TASKS[task].instruction
    about = Announcement(name, task, said, START_NS, PERIOD_NS * 1e-9, 7, "paper")
    topics = [*map(picture_topic, views), "/joint_states", "/tool_pose", "/arm/command"]
    topics += [DRIVER_TOPIC] if changes else []
    with BagOutput(output, about, topics) as bag:
        for frame in range(length):
            stamp = START_NS + frame * PERIOD_NS
            if frame in changes:
                turn = list(changes).index(frame) + 1
                bag.driver(turn, turn % 2 == 1, frame, stamp)
            bag.tool_pose(pose(frame), stamp)
            for view in views:
                bag.picture(view, picture(frame, keyframes, view), stamp)
            bag.joints(PANDA_NAMES, panda_joints(frame), [0.5] * 9, stamp)
            if frame < length - 1:  # nothing is told after the end
                bag.command(frame, int(CommandMode.TOOL_DELTA), TOOL_DELTA_NAMES, delta(frame), stamp)
        bag.finish(stamp)
    if annotated:
        annotate(output / name / "bag", [(k, START_NS + f * PERIOD_NS) for k, f in enumerate(keyframes)], task=task)
    return output / name / "bag"


def piper_stamps(length: int, lost: Sequence[int] = ()) -> list[int]:
    """When a camera saw its frames: with a phase of its own, jitter, and some lost."""
    chance = np.random.default_rng(5)
    jitter = chance.integers(-4_000_000, 4_000_000, length).tolist()
    return [START_NS + 22_000_000 + k * PERIOD_NS + jitter[k] for k in range(length) if k not in lost]


def write_piper_bag(
    output: Path,
    name: str,
    length: int = 24,
    lost: Sequence[int] = (),
    felt_from_ns: int = START_NS,
    silent: tuple[int, int] = (0, 0),
    changes: Sequence[int] = (),
    by_gamepad: bool = False,
) -> Path:
    """Write an episode of a Piper: joints 100 times a second, targets 20 times, cameras in a rhythm of their own.

    The robot tells nothing before `felt_from_ns` nor between the two times `silent`. A person takes over and hands back
    after these `changes`, frames, and moves the joints, or `by_gamepad` the tool.
    """
    events: list[tuple[int, str, int]] = [(stamp, "picture", k) for k, stamp in enumerate(piper_stamps(length, lost))]
    joints = [(START_NS + k * 10_000_000, "joints", k) for k in range(5 * length + 10)]
    events += [event for event in joints if event[0] >= felt_from_ns and not silent[0] < event[0] < silent[1]]
    events += [(START_NS + step * PERIOD_NS + 300_000, "command", step) for step in range(length)]
    about = Announcement(name, "counting", TASKS["counting"].instruction, START_NS, PERIOD_NS * 1e-9)
    events += [(START_NS + frame * PERIOD_NS + 400_000, "driver", turn) for turn, frame in enumerate(changes, 1)]
    topics = [*TOPICS, "/tool_pose", "/arm/command", *([DRIVER_TOPIC] if changes else [])]
    with BagOutput(output, about, topics) as bag:
        for stamp, kind, number in sorted(events):
            if kind == "picture":
                bag.picture("third_person", picture(number), stamp)
                bag.picture("wrist", picture(number, view="wrist"), stamp + 3_000_000)
            elif kind == "joints":
                bag.joints(PIPER_NAMES, piper_joints(stamp), [0.2] * 7, stamp)
                bag.tool_pose(pose(number), stamp)
            elif kind == "driver":
                bag.driver(number, number % 2 == 1, changes[number - 1], stamp)
            elif by_gamepad and sum(change < number for change in changes) % 2 == 1:
                bag.command(number, int(CommandMode.TOOL_DELTA), TOOL_DELTA_NAMES, delta(number), stamp)
            else:
                bag.command(number, int(CommandMode.JOINT_POSITION), PIPER_NAMES, piper_target(number), stamp)
        bag.finish(stamp)
    bag_folder = output / name / "bag"
    annotate(bag_folder, [(phase, piper_stamps(length)[frame]) for phase, frame in enumerate(KEYFRAMES)])
    return bag_folder
