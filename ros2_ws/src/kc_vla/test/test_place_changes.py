"""Keyframes by what perception reports: a thing that has come to rest elsewhere is noticed once."""

from __future__ import annotations

from collections.abc import Iterable

from shown_keyframes import SECOND, cube

from kc_vla.memory.episodic.changes import PlaceChange, PlaceChanges
from kc_vla.memory.episodic.joining import DetectedScene
from kc_vla.memory.things import ObservedThing

LOOK_NS = SECOND // 4
LEFT, RIGHT, ASIDE = (0.5, 0.2), (0.5, -0.2), (0.7, 0.0)


def noticed(*looks: Iterable[ObservedThing]) -> list[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    changes = PlaceChanges()
    scenes = [DetectedScene(number * LOOK_NS, 0, "ep", tuple(seen)) for number, seen in enumerate(looks)]
    found = [(number, changes.take(scene)) for number, scene in enumerate(scenes)]
    return [(number, each.moved, each.appeared) for number, each in found if each is not None]


def test_what_rests_elsewhere_is_noticed_once_when_it_has_come_to_rest() -> None:
    still = [[cube("a", *LEFT), cube("b", *RIGHT)]] * 6
    carried = [[cube("a", 0.5, y), cube("b", *RIGHT)] for y in (0.1, 0.0, -0.1)]
    there = [[cube("a", *ASIDE), cube("b", *RIGHT)]] * 6
    assert noticed(*still, *carried, *there) == [(2, (), ("a", "b")), (11, ("a",), ())]


def test_what_is_put_back_on_the_spot_is_no_change() -> None:
    assert noticed(*[[cube("a", *LEFT)]] * 4, [cube("a", *ASIDE)], *[[cube("a", 0.51, 0.2)]] * 6) == [(2, (), ("a",))]


def test_a_hand_that_hides_a_thing_is_no_change() -> None:
    looks = [[cube("a", *LEFT)]] * 4 + [[]] * 8 + [[cube("a", *LEFT)]] * 4
    assert noticed(*looks) == [(2, (), ("a",))]


def test_a_thing_that_was_hidden_while_it_was_moved_is_noticed_where_it_is_seen_again() -> None:
    looks = [[cube("a", *LEFT)]] * 4 + [[]] * 8 + [[cube("a", *RIGHT)]] * 4
    assert noticed(*looks) == [(2, (), ("a",)), (14, ("a",), ())]


def test_a_change_has_a_label_for_people() -> None:
    assert PlaceChange(0, ("mug_1",), ("cup_1",)).label == "mug_1 moved"
    assert PlaceChange(0, (), ("cup_1", "cup_2")).label == "2 things appeared"
