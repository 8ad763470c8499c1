"""Which topics of a bag are a camera's: its images, their lens, and the depth beside them, by name or by type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.core.topics import view_on
from kc_vla.media.images import ImageError
from kc_vla.media.packed_images import shows_depth, sized

IMAGE, COMPRESSED, INFO = (f"sensor_msgs/msg/{name}" for name in ("Image", "CompressedImage", "CameraInfo"))
_GRAY = frozenset({"mono8", "mono16", "8UC1", "16UC1"})
"""Encodings of infrared cameras, which no detector looks at unless they are named."""


@dataclass(frozen=True)
class WantedTopics:
    """The topics that a user names; empty for those that are found by their types.

    Attributes:
        images: of color images.
        infos: of their camera_info, one for each of `images`.
        depths: of their aligned depth, likewise.
    """

    images: Sequence[str] = ()
    infos: Sequence[str] = ()
    depths: Sequence[str] = ()


@dataclass(frozen=True)
class RecordedCamera:
    """The topics of one camera.

    Attributes:
        view: its name.
        images: topic of its images, raw or compressed.
        info: topic of its camera_info; empty for none.
        depth: topic of its depth, raw or compressed; empty for none.
        remark: what is wrong with its topics, in one line; empty if nothing is.
    """

    view: str
    images: str
    info: str = ""
    depth: str = ""
    remark: str = ""


@dataclass(frozen=True)
class _Stream:
    """A topic of images: what its first message says."""

    topic: str
    frame: str
    size: tuple[int, int]
    depth: bool
    packed: bool
    gray: bool


def cameras_of(reader: BagReader, wanted: WantedTopics) -> list[RecordedCamera]:
    """Return the cameras of a bag, by the topics that a user names, or else by the types of all topics.

    Raises:
        BagReadError: A topic that is named is not there or has another type, or no topic has color images.
    """
    known = {name: topic.type for name, topic in reader.topics().items() if topic.count}
    for name in (*wanted.images, *wanted.depths):
        _check(reader, known, name, (IMAGE, COMPRESSED))
    for name in wanted.infos:
        _check(reader, known, name, (INFO,))
    for word, given in (("--info", wanted.infos), ("--depth", wanted.depths)):
        if given and len(given) != max(1, len(wanted.images)):
            raise BagReadError(f"{word} names {len(given)} topics: name one for each topic of --images")
    streams = list(_streams(reader, [name for name, kind in known.items() if kind in (IMAGE, COMPRESSED)]))
    colors = [each for each in streams if not each.depth]
    if wanted.images:
        chosen = [next((each for each in streams if each.topic == name), None) for name in wanted.images]
        unreadable = [name for name, found in zip(wanted.images, chosen, strict=True) if found is None or found.depth]
        if unreadable:
            raise BagReadError(f"{reader.path} has no color images on {unreadable[0]}: name another topic of images")
        colors = [each for each in chosen if each is not None]
    else:
        colors = _one_of_each_camera(colors)
    if not colors:
        raise BagReadError(f"{reader.path} has no color images: record a topic of {IMAGE} or {COMPRESSED}")
    infos = _infos(reader, [name for name, kind in known.items() if kind == INFO])
    return [
        _camera(each, at, wanted, infos, [other for other in streams if other.depth]) for at, each in enumerate(colors)
    ]


def _check(reader: BagReader, known: Mapping[str, str], name: str, kinds: Sequence[str]) -> None:
    if name not in known:
        near = ", ".join(sorted(topic for topic, kind in known.items() if kind in kinds)) or "none"
        raise BagReadError(f"{reader.path} has no messages on {name}: of this type there are {near}")
    if known[name] not in kinds:
        raise BagReadError(f"{reader.path} has {known[name]} on {name}, not {' or '.join(kinds)}")


def _streams(reader: BagReader, topics: Sequence[str]) -> Iterator[_Stream]:
    for topic, first in _first_messages(reader, topics):
        try:
            size = sized(first)
        except ImageError:
            continue
        packed = hasattr(first, "format")
        form = first.format if packed else first.encoding
        gray = form.split(";")[0].strip() in _GRAY
        yield _Stream(topic, first.header.frame_id, (size.width, size.height), shows_depth(first), packed, gray)


def _first_messages(reader: BagReader, topics: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the first message of each topic."""
    index = reader.index(topics) if topics else {}
    for topic in topics:
        if refs := index.get(topic):
            try:
                yield topic, reader.decode(reader.load(refs[0]))
            except BagReadError:
                continue


def _one_of_each_camera(colors: Sequence[_Stream]) -> list[_Stream]:
    """Return one topic of each frame that images are in: raw rather than compressed, and the shortest name."""
    usable = [each for each in colors if not each.gray] or colors
    found: dict[str, _Stream] = {}
    for each in sorted(usable, key=lambda stream: (stream.packed, len(stream.topic), stream.topic)):
        found.setdefault(each.frame or each.topic, each)
    return sorted(found.values(), key=lambda stream: stream.topic)


def _infos(reader: BagReader, topics: Sequence[str]) -> dict[str, tuple[str, tuple[int, int]]]:
    return {topic: (each.header.frame_id, (each.width, each.height)) for topic, each in _first_messages(reader, topics)}


def _camera(
    images: _Stream,
    at: int,
    wanted: WantedTopics,
    infos: Mapping[str, tuple[str, tuple[int, int]]],
    depths: Sequence[_Stream],
) -> RecordedCamera:
    bare = images.topic.removesuffix("/compressed")
    view = view_on(images.topic) or bare.rpartition("/")[0].strip("/") or bare.strip("/")
    beside = f"{bare.rpartition('/')[0]}/camera_info"
    alike = [name for name, told in infos.items() if told == (images.frame, images.size)]
    info = wanted.infos[at] if wanted.infos else beside if beside in infos else next(iter(_nearest(bare, alike)), "")
    if wanted.depths:
        return RecordedCamera(view, images.topic, info, wanted.depths[at])
    aligned = [each for each in depths if each.frame == images.frame and each.size == images.size]
    if aligned:
        packed = {each.topic: each.packed for each in aligned}
        ranked = _nearest(bare, list(packed))
        return RecordedCamera(view, images.topic, info, next((name for name in ranked if not packed[name]), ranked[0]))
    own = _nearest(bare, [each.topic for each in depths])
    return RecordedCamera(view, images.topic, info, "", _unaligned(images, depths, own) if own else "")


def _unaligned(images: _Stream, depths: Sequence[_Stream], ranked: Sequence[str]) -> str:
    depth = next(each for each in depths if each.topic == ranked[0])
    return (
        f"the depth on {depth.topic} ({depth.size[0]}x{depth.size[1]} px, in '{depth.frame}') is not aligned with "
        f"{images.topic} ({images.size[0]}x{images.size[1]} px, in '{images.frame}'): record aligned depth, or name "
        "its topic with --depth; places are found without it"
    )


def _nearest(topic: str, names: Sequence[str]) -> list[str]:
    """Return names of topics, those first that have more namespaces in common with a topic."""

    def common(name: str) -> int:
        pairs = zip(topic.split("/"), name.split("/"), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    return sorted(names, key=lambda name: (-common(name), len(name), name))
