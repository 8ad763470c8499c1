"""`kc-vla memory build` from camera images: a detector looks at the images of bags, and a scene graph takes them in."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm import tqdm

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.calibration.reading import load_camera
from kc_vla.cameras.calibration import load_calibration
from kc_vla.memory.intake import lasting_stamp
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.perception.recorded.camera_topics import WantedTopics
from kc_vla.perception.recorded.looks import LookSettings, RecordedLooks
from kc_vla.perception.recorded.progress import BuildProgress
from kc_vla.perception.taken import taken_of

_PERIOD_S = 0.2
_MOST_LINES = 10


def build_from_images(
    readers: Sequence[BagReader], detector: str, given: Mapping[str, Any], options: argparse.Namespace
) -> None:
    """Take what the images of bags show into the store, each committed before the next, and print what came of it.

    Args:
        readers: of the bags.
        detector: name of its row.
        given: its options.
        options: of the command.

    Raises:
        StackError: the detector cannot be had, or the store cannot be read or written; what was taken in stays.
        BagReadError: a bag has no camera that can be looked at.
        CalibrationError: a calibration file cannot be used.
    """
    settings = LookSettings(
        detector,
        given,
        WantedTopics(options.images, options.info, options.depth),
        options.frame,
        load_camera(options.camera) if options.camera else None,
        load_calibration(options.lens) if options.lens else None,
        1.0 / (options.period or _PERIOD_S),
        options.support,
    )
    with Store(options.store) as store:
        memory, progress = LongTermMemory(store), BuildProgress(options.store, store.is_new)
        counts: Counter[str] = Counter()
        for reader in readers:
            looks = RecordedLooks(reader, settings)
            try:
                _take(looks, reader, memory, progress, options, counts)
            except KeyboardInterrupt:
                print(f"{counts['images']} images are in {options.store}; the same command goes on", file=sys.stderr)
                raise
            finally:
                looks.close()
                progress.write()
        known = len(memory.objects(options.map))
        if store.mended:
            print(store.mended)
    print(
        f"{options.store}: map {options.map!r} has {known} objects; {counts['images']} images were taken in: "
        f"{counts['new']} objects were new, {counts['gone']} gone"
    )


def _take(
    looks: RecordedLooks,
    reader: BagReader,
    memory: LongTermMemory,
    progress: BuildProgress,
    options: argparse.Namespace,
    counts: Counter[str],
) -> None:
    """Take in the images of one bag that were not taken in before."""
    key = f"{reader.path.resolve()} {options.map} {options.detector} {options.detector_options}".strip()
    since_ns = progress.until(key)
    if since_ns >= reader.contents().end_ns:
        print(f"{reader.path}: was taken in already; remove {progress.file} to take it in once more")
        return
    if since_ns:
        print(f"{reader.path}: goes on where it was interrupted")
    log_ns = since_ns
    bar = tqdm(desc=reader.path.name, total=looks.frames.count(), unit="message", leave=False, disable=None)
    with bar:
        for look in looks.after(since_ns):
            if look is None:
                bar.update()
                continue
            log_ns = look.log_ns
            stamp_ns = lasting_stamp(look.stamp_ns, log_ns)
            taken = taken_of(look.seen, stamp_ns)
            observed = memory.observe(options.map, taken.detections, stamp_ns, taken.view)
            counts["images"] += 1
            counts["new"] += len(observed.new)
            counts["gone"] += len(observed.gone)
            progress.note(key, log_ns)
    for line in (*reader.damages, *_lines(looks)):
        print(f"{reader.path}: {line}")
    if not looks.looked.total() and not since_ns:
        raise BagReadError(f"no image of {reader.path} could be looked at: see what is wrong above")
    progress.note(key, reader.contents().end_ns)
    views = ", ".join(f"{count} of {view}" for view, count in sorted(looks.looked.items()))
    print(f"{reader.path}: images that were looked at: {views}; positions are in {looks.frame!r}")


def _lines(looks: RecordedLooks) -> list[str]:
    """Return what was wrong, a line each, within bounds."""
    refused = [f"{count} times: {reason}" for reason, count in looks.refused.most_common(_MOST_LINES)]
    return [*looks.frames.problems][:_MOST_LINES] + refused
