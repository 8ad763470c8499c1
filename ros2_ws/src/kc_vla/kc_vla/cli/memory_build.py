"""`kc-vla memory build`: a long-term memory from the detections in bags, or from their images."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tqdm import tqdm

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.calibration.reading import load_camera
from kc_vla.cli.memory_build_arguments import AUTO, RECORDED
from kc_vla.cli.memory_build_images import build_from_images
from kc_vla.core.options import options_in
from kc_vla.core.topics import DETECTIONS_TRUTH
from kc_vla.memory.intake import Intake, IntakeError, lasting_stamp
from kc_vla.memory.long_term.errors import told
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.perception.recorded.camera_topics import COMPRESSED, IMAGE
from kc_vla.perception.recorded.looks import detections_topic

_TYPE = "kc_vla_msgs/msg/ObjectDetections"
_BASE_FRAME = "robot_base"
_OPTICAL = re.compile(r"_optical(_frame)?$")
"""How frames end that look along the lens, z ahead (REP 103): no map is in one."""
_MOST_REASONS = 5
_PERIOD_S = 0.5
_LEARNED = "learned"


def build(options: argparse.Namespace) -> None:
    """Take what the bags show into the store, each message or image before the next, and print what came of it.

    Raises:
        StackError: a file cannot be read, the detector cannot be had, or the store cannot be written; what was taken in
            before stays.
        BagReadError: a bag cannot be read, or has neither detections nor images.
    """
    readers = [BagReader(bag) for bag in options.bags]
    detector = _detector(readers, options)
    if detector == RECORDED:
        _build_from_detections(readers, options)
        return
    given = options_in(options.detector_options, "--detector-options")
    if not (passed := [detections_topic(reader, detector, given) for reader in readers])[0]:
        build_from_images(readers, detector, given, options)
        return
    options.topic = passed[0]
    _build_from_detections(readers, options)


def _detector(readers: Sequence[BagReader], options: argparse.Namespace) -> str:
    """Return the detector that is meant: without a word, what the bags have."""
    if options.detector != AUTO:
        return str(options.detector)
    types = [{name: topic.type for name, topic in reader.topics().items() if topic.count} for reader in readers]
    recorded = [name for each in types for name, kind in each.items() if kind == _TYPE]
    if options.topic or any(not name.endswith(f"/{DETECTIONS_TRUTH}") for name in recorded):
        return RECORDED
    if all(not {IMAGE, COMPRESSED}.isdisjoint(each.values()) for each in types):
        print("no detections are recorded: the detector 'learned' looks at the images")
        return _LEARNED
    return RECORDED


def _build_from_detections(readers: Sequence[BagReader], options: argparse.Namespace) -> None:
    """Take the detections of the bags into the store, each committed before the next."""
    period_s = options.period or _PERIOD_S
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
                if 0 <= stamp_ns - last_ns < period_s * 1e9:
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
    raise BagReadError(f"{reader.path} has no detections{where}: record a topic of {_TYPE}, or images for a --detector")


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
