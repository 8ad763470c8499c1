"""What was moved in the open while nobody looked: the same object where it is the only one that is missing."""

import pytest
from box_scene import Camera, Thing, looking, off, on_table
from tracked_room import MUG, Room, ids

from kc_vla.perception.located_object import LocatedObject

LEFT, RIGHT = (0.0, -0.45), (0.0, 0.45)


def two_sides() -> Room:
    """A camera on each side of a table, neither of which sees the other side."""
    return Room([Camera(looking((0.5, y, 0.6), (0.0, y, 0.0)), f"camera {y}") for y in (LEFT[1], RIGHT[1])])


def look_at(room: Room, side: int, count: int, *things: Thing) -> dict[str, LocatedObject]:
    found: dict[str, LocatedObject] = {}
    for _ in range(count):
        found = ids(room.look(*things, camera=side))
    return found


@pytest.mark.parametrize("pause_s", [1, 300])
@pytest.mark.parametrize("first", [0, 1], ids=["the old place first", "the new place first"])
def test_what_was_moved_while_nobody_looked_is_the_same_object_once_its_old_place_was_seen_empty(
    first: int, pause_s: int
) -> None:
    room, mug = two_sides(), on_table("mug", *LEFT, MUG, color="red")
    blue = on_table("mug", 0.12, LEFT[1], MUG, color="blue")
    (name,) = [key for key, each in look_at(room, 0, 4, mug, blue).items() if each.attributes["color"] == "red"]
    moved = mug.at(*RIGHT)
    room.now_ns += pause_s * 10**9
    for side in (first, 1 - first):
        look_at(room, side, 5, moved, blue)
    at_new, at_old = look_at(room, 1, 1, moved, blue), look_at(room, 0, 1, moved, blue)
    assert set(at_new) == {name}
    assert off(at_new[name].position, moved.position) < 0.03
    assert [each.attributes["color"] for each in at_old.values()] == ["blue"]


@pytest.mark.parametrize("first", [0, 1], ids=["the old places first", "the new place first"])
def test_where_two_alike_are_missing_the_one_that_appears_is_another_one(first: int) -> None:
    room = two_sides()
    mugs = [on_table("mug", x, LEFT[1], MUG, color="red") for x in (-0.1, 0.1)]
    before = set(look_at(room, 0, 4, *mugs))
    assert len(before) == 2
    moved = mugs[0].at(*RIGHT)
    for side in (first, 1 - first):
        look_at(room, side, 5, moved)
    assert not before & set(look_at(room, 1, 1, moved))


def test_a_second_one_that_is_seen_beside_the_first_is_not_the_first() -> None:
    room, mug = two_sides(), on_table("mug", *LEFT, MUG, color="red")
    second = mug.at(*RIGHT)
    (one,) = look_at(room, 0, 4, mug, second)
    (other,) = look_at(room, 1, 4, mug, second)
    assert one != other
    assert set(look_at(room, 0, 6, mug, second)) == {one}
    look_at(room, 0, 8, second)
    assert room.gone == [one]
    assert set(look_at(room, 1, 2, second)) == {other}


def test_what_ends_at_its_new_place_under_another_id_is_reported_gone_there() -> None:
    """So that nothing goes on claiming the id that it had there for a while."""
    room, mug = two_sides(), on_table("mug", *LEFT, MUG, color="red")
    (name,) = look_at(room, 0, 4, mug)
    (for_a_while,) = look_at(room, 1, 4, mug.at(*RIGHT))
    assert for_a_while != name
    look_at(room, 0, 5, mug.at(*RIGHT))
    assert room.gone == [for_a_while]
