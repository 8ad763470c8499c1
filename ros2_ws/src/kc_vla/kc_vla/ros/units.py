"""Between messages and units of the short-term memory."""

from __future__ import annotations

import math
from collections.abc import Iterable

from kc_vla.core.stamps import nanoseconds
from kc_vla.memory.intake import MOST_DETECTIONS
from kc_vla.memory.live_units import News, Recalled, Standing, UnitChanges
from kc_vla.memory.recall.answer import Filters, RecallAnswer, RecalledUnit
from kc_vla.memory.short_term.memory import UnitEvent
from kc_vla.memory.short_term.unit import MOST_LETTERS, ObjectState, Position, Unit, UnitError, plain, state_of
from kc_vla.ros.convert import BadMessageError, attributes_message, check_stamp, point_message, time_message
from kc_vla_msgs.msg import MemoryChange, MemoryUnit, MemoryUnits, UnitsChanges
from kc_vla_msgs.srv import RecallUnits, UnitsSince

_HAPPENED = {
    UnitEvent.ADDED: MemoryChange.ADDED,
    UnitEvent.MERGED: MemoryChange.MERGED,
    UnitEvent.REFUSED: MemoryChange.REFUSED,
    UnitEvent.CONFIRMED: MemoryChange.CONFIRMED,
    UnitEvent.DEMOTED: MemoryChange.DEMOTED,
    UnitEvent.REMOVED: MemoryChange.REMOVED,
    None: MemoryChange.EVICTED,
}
_TOLD, _MOST_NAMED = 40, 100


def unit_message(standing: Standing) -> MemoryUnit:
    """Return the message of a unit and where it stands."""
    unit = standing.unit
    *place, frame = unit.position
    message = MemoryUnit(
        object_id=unit.object_id,
        object_type=unit.object_type,
        position=point_message(place),
        state="" if unit.state is ObjectState.NONE else unit.state.value,
        area=unit.area,
        attributes=attributes_message(unit.attributes),
        image=unit.image,
        movable=unit.movable,
        state_source=unit.state_source,
        used=unit.used,
        effects=list(unit.effects),
        effect_times=list(unit.effects.values()),
        segment=standing.segment,
        frequency=standing.frequency,
    )
    message.header.stamp, message.header.frame_id = time_message(round(unit.stamp * 1e9)), frame
    return message


def change_message(news: News) -> MemoryChange:
    """Return the message of what became of a unit."""
    return MemoryChange(type=_HAPPENED[news.happened], reason=news.reason, unit=unit_message(news.standing))


def units_message(held: Iterable[Standing], capacity: int, policy: str, now_ns: int) -> MemoryUnits:
    """Return the message of all that a memory holds."""
    message = MemoryUnits(capacity=capacity, policy=policy, units=[unit_message(each) for each in held])
    message.header.stamp = time_message(now_ns)
    return message


def units_from(messages: Iterable[MemoryUnit], frame: str, now_ns: int) -> list[Unit]:
    """Return the units of messages, all of them, in the memory's `frame`; one without a stamp was seen now.

    Raises:
        UnitError: there are too many, or one of them cannot be.
    """
    given = list(messages)
    if not 0 < len(given) <= MOST_DETECTIONS:
        raise UnitError(f"{len(given)} units at once: give 1 to {MOST_DETECTIONS}")
    return [_unit(each, frame, now_ns) for each in given]


def filters_from(request: RecallUnits.Request, frame: str, now_ns: int) -> Filters:
    """Return what the units of an answer, in the memory's `frame`, have to be.

    Raises:
        UnitError: there is no such state, or a number makes no sense.
    """
    texts = [*request.types, *request.states]
    if len(texts) > _MOST_NAMED or max(map(len, texts), default=0) > MOST_LETTERS:
        raise UnitError(f"{len(texts)} types and states: {_MOST_NAMED} are the most, of {MOST_LETTERS} letters each")
    place = request.near.point
    if not math.isfinite(place.x + place.y + place.z):
        raise UnitError("near is no place: its numbers have to be finite")
    near = Position(place.x, place.y, place.z, request.near.header.frame_id)
    by_place, by_age = bool(request.radius), bool(request.most_age)
    if by_place:
        _check_frame("near", near.frame, frame)
    return Filters(
        types=frozenset(request.types),
        states=frozenset(map(state_of, request.states)),
        area=request.area,
        near=near if by_place else None,
        radius=request.radius if by_place else None,
        most_age=request.most_age if by_age else None,
        now=now_ns / 1e9 if by_age else None,
    )


def recall_response(response: RecallUnits.Response, recalled: Recalled) -> None:
    """Put an answer into a response."""
    answer = recalled.answer
    response.units = [unit_message(each) for each in recalled.standings]
    response.scores = [each.score for each in answer.found]
    response.confidence = answer.confidence
    response.answer, response.left_out, response.notes = answer.text(), answer.left_out, list(answer.notes)


def _check_frame(what: str, given: str, frame: str) -> None:
    if not given:
        raise UnitError(f"{what} has no frame_id: say which frame its position is in")
    if given != frame:
        raise UnitError(f"{what} is in the frame {plain(given)[:_TOLD]!r}: give its position in {frame!r}")


def _unit(message: MemoryUnit, frame: str, now_ns: int) -> Unit:
    stamp_ns = nanoseconds(message.header.stamp) or now_ns
    told = repr(plain(message.object_id)[:_TOLD])
    try:
        check_stamp(stamp_ns, now_ns)
    except BadMessageError as error:
        raise UnitError(f"the unit {told}: {error}") from error
    _check_frame(f"the unit {told}", message.header.frame_id, frame)
    return Unit(
        message.object_type,
        message.object_id,
        Position(message.position.x, message.position.y, message.position.z, message.header.frame_id),
        stamp_ns / 1e9,
        state_of(message.state),
        message.area,
        {each.key: each.value for each in message.attributes},
        message.image,
        message.movable,
    )


def unit_from(message: MemoryUnit) -> Unit:
    """Return the unit of a message that a memory has sent, with what the memory notes of it."""
    place, stamp_ns = message.position, nanoseconds(message.header.stamp)
    return Unit(
        message.object_type,
        message.object_id,
        Position(place.x, place.y, place.z, message.header.frame_id),
        stamp_ns / 1e9,
        state_of(message.state),
        message.area,
        {each.key: each.value for each in message.attributes},
        message.image,
        message.movable,
        message.used,
        dict(zip(message.effects, message.effect_times, strict=True)),
        message.state_source,
    )


def recall_request(text: str, most: int, filters: Filters, most_tokens: int | None) -> RecallUnits.Request:
    """Return the request for an answer; a filter by place or age is not of a planner and is refused.

    Raises:
        UnitError: there is such a filter.
    """
    if filters.near is not None or filters.most_age is not None:
        raise UnitError("a planner recalls by type, state and area alone")
    return RecallUnits.Request(
        text=text,
        k=most,
        types=sorted(filters.types),
        states=sorted(each.value for each in filters.states),
        area=filters.area,
        most_tokens=most_tokens or 0,
    )


def answer_from(text: str, response: RecallUnits.Response) -> RecallAnswer:
    """Return the answer of a memory to an instruction."""
    found = tuple(
        RecalledUnit(unit_from(unit), score) for unit, score in zip(response.units, response.scores, strict=True)
    )
    return RecallAnswer(text, found, response.confidence, response.left_out, tuple(response.notes))


def changes_message(found: UnitChanges) -> UnitsChanges:
    """Return the message of what changed in a memory."""
    return UnitsChanges(
        revision=found.revision,
        whole=found.whole,
        units=[unit_message(each) for each in found.units],
        removed=list(found.removed),
    )


def changes_response(response: UnitsSince.Response, found: UnitChanges) -> None:
    """Put what changed in a memory into a response."""
    response.changes = changes_message(found)
