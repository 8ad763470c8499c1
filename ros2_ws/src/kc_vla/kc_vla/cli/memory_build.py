"""`kc-vla memory build`: a long-term memory from the detections in bags."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tqdm import tqdm

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.calibration.reading import load_camera
from kc_vla.core.topics import DETECTIONS_TRUTH
from kc_vla.memory.intake import Intake, IntakeError, lasting_stamp
from kc_vla.memory.long_term.errors import told
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store

_TYPE = "kc_vla_msgs/msg/ObjectDetections"
_BASE_FRAME = "robot_base"
_OPTICAL = re.compile(r"_optical(_frame)?$")
"""How frames end that look along the lens, z ahead (REP 103): no map is in one."""
_MOST_REASONS = 5


def build(options: argparse.Namespace) -> None:
    """Take the detections of the bags into the store, each committed before the next, and print what came of it.

    Raises:
        StackError: a file cannot be read, or the store cannot be written; what was taken in before stays.
        BagReadError: a bag cannot be read, or has no detections.
    """
    readers = [BagReader(bag) for bag in options.bags]
    topics = [_topic(reader, options.topic) for reader in readers]
    if options.lens and not options.camera:
        raise IntakeError("--lens says what a camera sees: name the file of its place, too, with --camera")
    camera = load_camera(options.camera, options.lens) if options.camera else None
    intake: Intake | None = None
    with Store(options.store) as store:
        memory = LongTermMemory(store)
        counts: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        last_ns = 0
        for reader, topic in zip(readers, topics, strict=True):
            for received_ns, kind, message in _messages(reader, topic):
                frame = message.header.frame_id
                if intake is None:
                    own = _BASE_FRAME if camera is not None and frame == camera.frame else frame
                    if camera is None and not options.frame and _OPTICAL.search(frame):
                        raise BagReadError(
                            f"the detections are in {told(frame)}, as a camera sees them, and not in that of a map: "
                            f"name the file of the camera's place with --camera, or --frame {frame} if they are"
                        )
                    intake = Intake(options.frame or own, camera)
                if kind != _TYPE:
                    intake.flange.put(message)
                    continue
                counts["messages"] += 1
                try:
                    taken = intake.take(message)
                except IntakeError as error:
                    refused[str(error)] += 1
                    continue
                refused.update(each.partition("is left out: ")[2] for each in taken.refused)
                stamp_ns = lasting_stamp(taken.stamp_ns, received_ns)
                if 0 <= stamp_ns - last_ns < options.period * 1e9:
                    continue
                last_ns = stamp_ns
                observed = memory.observe(options.map, taken.detections, stamp_ns, taken.view)
                counts["taken"] += 1
                counts["new"] += len(observed.new)
                counts["gone"] += len(observed.gone)
            for damage in reader.damages:
                print(damage)
        known = len(memory.objects(options.map))
        mended = store.mended
    if mended:
        print(mended)
    if refused:
        reasons = [f"{count} as {reason}" for reason, count in refused.most_common(_MOST_REASONS)]
        more = [f"the rest for {len(refused) - _MOST_REASONS} other reasons"] if len(refused) > _MOST_REASONS else []
        print(f"{refused.total()} messages or detections were left out: {'; '.join([*reasons, *more])}")
    if not counts["messages"]:
        raise BagReadError(f"nothing was taken in: no message on {', '.join(topics)} could be read")
    if not counts["taken"]:
        raise BagReadError("nothing was taken in: see what is wrong with the detections above")
    print(
        f"{options.store}: map {options.map!r} has {known} objects; {counts['taken']} of {counts['messages']} messages "
        f"were taken in: {counts['new']} objects were new, {counts['gone']} gone"
    )


def _topic(reader: BagReader, wanted: str) -> str:
    """Return the topic with the detections of a bag: what a simulator knows counts only where it is named."""
    found = sorted(name for name, topic in reader.topics().items() if topic.type == _TYPE)
    truth = [name for name in found if name.endswith(f"/{DETECTIONS_TRUTH}")]
    if not wanted and truth and len(found) == len(truth):
        raise BagReadError(f"{reader.path} has what the simulator knows alone: say so with --topic {truth[0]}")
    if not wanted:
        found = [name for name in found if name not in truth]
    else:
        found = [name for name in found if name.strip("/") == wanted.strip("/")]
    if len(found) == 1:
        return found[0]
    if found:
        raise BagReadError(f"{reader.path} has detections on {', '.join(found)}: choose one with --topic")
    where = f" on {wanted}" if wanted else ""
    raise BagReadError(f"{reader.path} has no detections{where}: record a topic of {_TYPE}")


def _messages(reader: BagReader, topic: str) -> Iterator[tuple[int, str, Any]]:
    """Yield detections, and the tool poses beside them: when each was received, ns, its type and itself."""
    space = topic.rpartition("/")[0]
    known = reader.topics()
    pose = f"{space}/tool_pose"
    wanted = [topic, *([pose] if pose in known and known[pose].type == "geometry_msgs/msg/PoseStamped" else [])]
    count = sum(known[name].count for name in wanted)
    bar = tqdm(reader.messages(wanted), desc=reader.path.name, total=count, unit="message", leave=False, disable=None)
    for message in bar:
        yield message.ref.log_time_ns, message.ref.type, reader.decode(message)
