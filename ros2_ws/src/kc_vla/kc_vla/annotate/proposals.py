"""Keyframes that a person may take over: what the recording holds, what the selectors find in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kc_vla.annotate.curves import Curves
from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.bags.messages import MessageRef
from kc_vla.core.episode import Episode
from kc_vla.core.stamps import nanoseconds
from kc_vla.episodes.annotation_log import AnnotationError, Mark
from kc_vla.keyframes.scoring import SelectorBackend, SourceError, sight_of, views_for
from kc_vla.keyframes.selector import KeyframeSelector, SelectorEvent
from kc_vla.keyframes.smoothing import Decision, GreedySmoother

_LABEL = "keyframe {}"


def recorded_proposals(episode: AnnotatedEpisode) -> dict[str, tuple[Mark, ...]]:
    """Return the marks by their selector: what the live one committed, and the simulator's truth where there is one.

    Raises:
        BagError: a message cannot be read.
    """
    events = [event for event in episode.messages("keyframes/event") if event.type == Decision.COMMITTED]
    found = {
        f"committed ({source})": [
            _mark(episode, nanoseconds(event.header.stamp), event.phase, "committed", event.score)
            for event in events
            if event.source == source
        ]
        for source in dict.fromkeys(event.source for event in events)
    }
    for result in list(episode.messages("episode/result"))[-1:]:
        period_ns = round(episode.status.frame_period_s * 1e9)
        stamps = [episode.status.start_ns + frame * period_ns for frame in result.oracle_frames]
        if stamps:
            found["oracle"] = [_mark(episode, stamp, k, "oracle", 1.0) for k, stamp in enumerate(stamps)]
    return {source: _ascending(marks) for source, marks in found.items()}


def propose(
    episode: AnnotatedEpisode,
    source: SelectorBackend,
    name: str,
    curves: Curves,
    done: Callable[[int], object] = lambda frame: None,
) -> tuple[Mark, ...]:
    """Return what a selector finds that sees all frames, one after the other, as it does on the robot.

    Args:
        episode: to look at.
        source: of keyframes.
        name: what the marks' source is called.
        curves: of the episode; of which some sources need the gripper.
        done: called with the number of each frame that was looked at.

    Raises:
        AnnotationError: the source cannot say anything of this episode.
        BagError: an image cannot be read.
    """
    told = episode.status
    begun = Episode(
        str(episode.bag), told.task, told.instruction, told.start_ns, round(told.frame_period_s * 1e9), False
    )
    try:
        views = views_for(source, episode.views)
        scoring = source.begin(begun)
    except (SourceError, ValueError) as error:
        raise AnnotationError(str(error)) from error
    if scoring.remark:
        raise AnnotationError(scoring.remark)
    joints, poses = _felt(episode, curves, name) if "tool_pose" in source.needs else ([], [])
    selector = KeyframeSelector(scoring.labels, GreedySmoother(scoring.threshold, first=scoring.first))
    found: list[SelectorEvent] = []
    for frame in range(episode.length):
        sight = sight_of(
            round(episode.times_s[frame] * 1e9),
            {view: episode.pixels(frame, view) for view in views},
            joints=episode.message(joints[frame]) if joints else None,
            tool_pose=episode.message(poses[frame]).pose if poses else None,
        )
        found += selector.update(frame, scoring.scorer.score(sight, selector.phase))
        done(frame)
        if selector.done:
            break
    last = found[-1:] if found and found[-1].decision is not Decision.COMMITTED else []  # the bag ended while it waited
    kept = [event for event in found if event.decision is Decision.COMMITTED] + last
    marks = [Mark(e.frame, episode.stamp_ns(e.frame), e.phase, e.label, name, _share(e.score)) for e in kept]
    return _ascending(marks)


def _felt(episode: AnnotatedEpisode, curves: Curves, name: str) -> tuple[list[MessageRef], list[MessageRef]]:
    """Return the joint state and the tool pose of each frame."""
    joints, poses = episode.last("joint_states"), episode.last("tool_pose")
    missing = [what for what, there in (("tool pose", poses), ("gripper", "gripper" in curves)) if not there]
    if missing:
        raise AnnotationError(f"the recording has no {' and no '.join(missing)}, which the {name} look at")
    return joints, poses


def label(labels: Sequence[str], phase: int) -> str:
    """Return what the keyframe of a phase is called."""
    return labels[phase] if phase < len(labels) else _LABEL.format(phase)


def _mark(episode: AnnotatedEpisode, stamp_ns: int, phase: int, source: str, score: float) -> Mark:
    frame = episode.frame_of(stamp_ns)
    called = label(episode.labels, int(phase))
    return Mark(frame, episode.stamp_ns(frame), int(phase), called, source, _share(float(score)))


def _share(score: float) -> float:
    return min(1.0, max(0.0, score)) if score == score else 0.0


def _ascending(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return one mark a frame, by frame."""
    return tuple(sorted({mark.frame: mark for mark in marks}.values(), key=lambda mark: mark.frame))
