"""Furniture over many looks: what is one piece, where it is behind its front, and what a hand carries past it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from box_scene import Camera, Thing, looking

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.front import Front
from kc_vla.perception.front_record import FrontRecord
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.shut_bar import is_shut
from kc_vla.perception.tracking import Tracked, Tracker
from kc_vla.perception.tracks import TrackerSettings

SHOWN = PixelBox(20.0, 20.0, 80.0, 80.0)
STANDOFF = 0.045
UPPER_BAR, LOWER_BAR = 0.216, 0.107


class Looks:
    """A tracker, and what it has reported, by id."""

    def __init__(self) -> None:
        self.tracker, self.frame = Tracker(TrackerSettings(0.0)), Camera().take([])[0]
        self.reported: dict[str, LocatedObject] = {}
        self.stamp_ns = 0

    def take(self, count: int, *seen: LocatedObject) -> Tracked:
        for _ in range(count):
            self.stamp_ns += 100_000_000
            tracked = self.tracker.update(replace(self.frame, stamp_ns=self.stamp_ns), seen)
            self.reported |= {each.object_id: each for each in tracked.objects}
        return tracked


def found(kind: str, place: Iterable[float], size: Iterable[float], state: str = "", **more: object) -> LocatedObject:
    return LocatedObject(kind, tuple(place), tuple(size), 0.8, 0.01, SHOWN, state, **more)  # type: ignore[arg-type]


def drawer(bar: float, opening: float = 0.0) -> LocatedObject:
    """A drawer 0.245 m deep whose box, as it was located, has the bar in it, too."""
    front = Front(np.pi, (0.441 - opening, 0.0, bar), False, None, STANDOFF)
    place = (0.6085 - opening, 0.0, bar - 0.045)
    return found("drawer", place, (0.3, 0.27, 0.11), "opened" if opening else "closed", front=front)


def test_what_is_located_within_furniture_of_its_type_is_that_furniture() -> None:
    looks = Looks()
    whole = found("microwave", (0.6, 0.0, 0.1), (0.5, 0.37, 0.2), "opened")
    part = found("microwave", (0.59, -0.01, 0.08), (0.18, 0.15, 0.15), "opened")
    looks.take(3, whole)
    looks.take(12, part, whole)
    looks.take(3, part)
    assert set(looks.reported) == {"microwave_1"}


def test_a_drawer_that_is_located_badly_is_no_second_one_until_its_own_bar_is_seen() -> None:
    looks = Looks()
    looks.take(4, drawer(UPPER_BAR))
    bad = found("drawer", (0.47, -0.03, 0.125), (0.28, 0.29, 0.09), "opened")
    looks.take(8, drawer(UPPER_BAR, 0.17), bad)
    assert set(looks.reported) == {"drawer_1"}
    looks.take(4, drawer(UPPER_BAR), drawer(LOWER_BAR))
    assert set(looks.reported) == {"drawer_1", "drawer_2"}


def test_a_cabinet_that_is_taken_for_a_drawer_is_the_drawer_whose_bar_it_shows() -> None:
    looks = Looks()
    looks.take(6, drawer(UPPER_BAR), drawer(LOWER_BAR))
    huge = replace(drawer(LOWER_BAR), position=(0.55, 0.0, 0.19), size=(0.47, 0.48, 0.27))
    looks.take(6, drawer(UPPER_BAR), huge)
    assert set(looks.reported) == {"drawer_1", "drawer_2"}


@pytest.mark.parametrize("opening", [0.0, 0.17])
def test_a_drawer_is_reported_behind_its_front_and_as_deep_as_it_is_without_its_bar(opening: float) -> None:
    looks = Looks()
    looks.take(8, drawer(UPPER_BAR))
    far = replace(drawer(UPPER_BAR, opening), position=(0.66 - opening, 0.03, 0.14))
    looks.take(3, *([far] if opening else [drawer(UPPER_BAR)]))
    reported = looks.reported["drawer_1"]
    assert reported.position == pytest.approx((0.6085 - opening, 0.0, UPPER_BAR - 0.045), abs=0.004)
    assert reported.box_size is not None
    assert reported.box_size[0] == pytest.approx(0.245, abs=0.004)


def test_a_half_of_a_sliced_thing_is_no_second_thing_and_one_beside_it_is() -> None:
    looks = Looks()
    sliced = found("apple", (0.4, -0.3, 0.018), (0.064, 0.136, 0.036), "sliced")
    half = found("apple", (0.4, -0.335, 0.018), (0.063, 0.066, 0.036), "sliced")
    looks.take(4, sliced)
    looks.take(12, half, sliced)
    assert set(looks.reported) == {"apple_1"}
    looks.take(4, sliced, found("apple", (0.46, -0.3, 0.018), (0.064, 0.136, 0.036), "sliced"))
    assert set(looks.reported) == {"apple_1", "apple_2"}


def test_a_size_that_is_measured_badly_hardly_changes_what_good_looks_say() -> None:
    looks = Looks()
    good = found("cupboard", (0.6, 0.0, 0.14), (0.21, 0.26, 0.28), "closed")
    looks.take(10, good)
    looks.take(5, replace(good, size=(0.35, 0.32, 0.44), sigma_m=0.06))
    assert looks.reported["cupboard_1"].size == pytest.approx((0.21, 0.26, 0.28), abs=0.02)


def test_what_a_hand_carried_is_found_again_by_its_name_where_it_was_put() -> None:
    looks = Looks()
    sponge = found("sponge", (1.5, 0.0, 0.16), (0.1, 0.06, 0.03))  # the camera does not look there
    looks.take(4, sponge)
    looks.take(4, replace(sponge, position=(0.42, 0.4, 0.016)))
    assert set(looks.reported) == {"sponge_1"}
    assert looks.reported["sponge_1"].position == pytest.approx((0.42, 0.4, 0.016))


@pytest.mark.parametrize("beneath", [True, False])
def test_what_stands_on_furniture_hangs_from_nothing(beneath: bool) -> None:
    looks = Looks()
    cabinet = found("cabinet", (1.5, 0.0, 0.075), (0.25, 0.28, 0.15))  # the camera does not look there
    cup = found("cup", (1.5, 0.0, 0.2), (0.08, 0.08, 0.1))
    furniture = [cabinet] if beneath else []
    looks.take(4, *furniture, cup)
    looks.take(4, *furniture, replace(cup, position=(0.3, 0.5, 0.05)))
    assert ("cup_2" in looks.reported) is beneath


CABINET = Thing("cabinet", (-0.2, 0.0, 0.115), (0.25, 0.28, 0.23))
BAR = Thing("bar", (-0.03, 0.0, 0.2), (0.014, 0.12, 0.014))
HAND = Thing("hand", (0.2, 0.0, 0.3), (0.05, 0.3, 0.3))


@pytest.mark.parametrize(
    ("things", "shut"),
    [
        ((CABINET, BAR), True),
        ((CABINET, BAR.at(0.14, 0.0)), False),
        ((CABINET,), False),
        ((CABINET, BAR, HAND), None),
        ((CABINET, BAR.at(-0.03, 0.3)), False),
    ],
)
def test_depth_shows_whether_a_drawer_is_shut(things: tuple[Thing, ...], shut: bool | None) -> None:
    frame, _ = Camera(looking((0.6, 0.0, 0.5), (-0.1, 0.0, 0.15))).take(things)
    front = Front(0.0, (BAR.position[0], 0.0, BAR.position[2]), False, None, STANDOFF)
    assert is_shut(frame, front) is shut
    assert is_shut(replace(frame, depth_m=None), front) is None
    away = replace(front, bar=(3.0, 0.0, 0.2))  # behind the camera
    assert is_shut(frame, away) is None


@pytest.mark.parametrize(("bar", "believed"), [((0.27, -0.41, 0.22), True), ((0.44, -0.43, 0.22), False)])
def test_the_edge_of_an_open_door_is_not_taken_for_its_bar(bar: tuple[float, float, float], believed: bool) -> None:
    record = FrontRecord()
    for _ in range(3):
        record.see(shut_at(0.44), False, (0.6, -0.3, 0.14))
    record.see(replace(shut_at(0.44), yaw=-np.pi / 2, bar=bar), True, (0.6, -0.3, 0.14))
    assert record.bar == pytest.approx(bar if believed else (0.44, -0.2, 0.22))


def test_a_drawer_whose_bar_is_not_seen_any_more_is_open_as_far_as_its_middle_has_moved() -> None:
    record = FrontRecord()
    for _ in range(4):
        shut = drawer(UPPER_BAR)
        assert shut.front is not None
        record.see(shut.front, False, shut.position)
    known = record.known(True, np.array([0.6085 - 0.12, 0.02, 0.15]), np.array([0.3, 0.27, 0.11]))
    assert known.opening == pytest.approx(0.12)
    assert known.bar == pytest.approx((0.441 - 0.12, 0.0, UPPER_BAR))


def shut_at(x: float) -> Front:
    return Front(np.pi, (x, -0.2, 0.22), True, (0.49, -0.43), STANDOFF)


def test_where_a_bar_is_that_is_shut_is_not_forgotten_by_a_few_looks_but_by_many() -> None:
    record = FrontRecord()
    for _ in range(4):
        record.see(shut_at(0.44), False, (0.6, -0.3, 0.14))
    for _ in range(5):  # it swings, and its state is known later
        record.see(shut_at(0.3), False, (0.6, -0.3, 0.14))
    assert record.bar == pytest.approx((0.44, -0.2, 0.22))
    for _ in range(7):  # somebody moved the whole cupboard
        record.see(shut_at(0.3), False, (0.46, -0.3, 0.14))
    assert record.bar == pytest.approx((0.3, -0.2, 0.22))


def test_the_bar_of_another_drawer_is_not_taken_for_that_of_an_open_one() -> None:
    record = FrontRecord()
    for bar, opened in ((UPPER_BAR, False), (UPPER_BAR, False), (LOWER_BAR, True)):
        seen = drawer(bar, 0.17 if opened else 0.0)
        assert seen.front is not None
        record.see(seen.front, opened, seen.position)
    assert record.bar == pytest.approx((0.441, 0.0, UPPER_BAR))


def test_a_drawer_is_another_object_than_the_cabinet_that_it_fills() -> None:
    tracker, camera = Tracker(), Camera()
    frame, _ = camera.take([])
    cabinet = LocatedObject(
        "cabinet", (0.6, 0.0, 0.11), (0.25, 0.28, 0.23), 0.9, 0.01, PixelBox(20.0, 20.0, 80.0, 80.0)
    )
    drawer = LocatedObject("drawer", (0.59, 0.0, 0.08), (0.25, 0.27, 0.15), 0.8, 0.01, PixelBox(22.0, 40.0, 78.0, 80.0))
    names: set[str] = set()
    for look in range(10):
        seen = [cabinet, drawer] if look % 2 else [drawer, cabinet]
        tracked = tracker.update(replace(frame, stamp_ns=look * 100_000_000), seen)
        names = {each.object_id for each in tracked.objects}
        for each in tracked.objects:
            assert each.object_id.startswith(each.object_type)
    assert names == {"cabinet_1", "drawer_1"}


def test_two_drawers_stay_two_and_belong_to_their_cabinet_whose_front_is_theirs() -> None:
    tracker, (frame, _) = Tracker(), Camera().take([])
    shown = PixelBox(20.0, 20.0, 80.0, 80.0)
    cabinet = LocatedObject("cabinet", (0.62, 0.0, 0.115), (0.25, 0.28, 0.23), 0.9, 0.01, shown, front=_front(0.216))
    upper, lower = (
        LocatedObject("drawer", (0.6, 0.0, z), (0.25, 0.27, 0.11), 0.8, 0.01, shown, "closed", front=_front(bar))
        for z, bar in ((0.171, 0.216), (0.062, 0.107))
    )
    absent = replace(lower, position=(0.6, 0.0, 0.12))  # it is measured badly, and its bar is not
    reported: dict[str, LocatedObject] = {}
    for look in range(12):
        seen = [cabinet, upper, lower] if look < 6 else [cabinet, absent]
        tracked = tracker.update(replace(frame, stamp_ns=look * 100_000_000), seen)
        reported |= {each.object_id: each for each in tracked.objects}
    assert set(reported) == {"cabinet_1", "drawer_1", "drawer_2"}
    assert reported["cabinet_1"].attributes.get("handle", "") == ""
    bars = {name: reported[name].attributes["handle"].split()[2] for name in ("drawer_1", "drawer_2")}
    assert sorted(bars.values()) == ["0.1070", "0.2160"]
    assert all(reported[name].attributes["place"] == "in cabinet_1" for name in bars)


@pytest.mark.parametrize(
    ("place", "with_cabinet", "with_bar", "believed"),
    [
        ((0.1, -0.6, 0.17), True, False, False),
        ((0.1, -0.6, 0.17), True, True, True),
        ((0.1, -0.6, 0.17), False, False, True),
        ((0.45, 0.0, 0.17), True, False, True),  # it is pulled out of the cabinet
    ],
)
def test_a_drawer_far_from_every_cabinet_is_none_unless_its_bar_is_seen(
    place: tuple[float, float, float], with_cabinet: bool, with_bar: bool, believed: bool
) -> None:
    looks = Looks()
    cabinet = [found("cabinet", (0.62, 0.0, 0.115), (0.25, 0.28, 0.23))] if with_cabinet else []
    front = Front(np.pi, (place[0] - 0.17, place[1], place[2] + 0.04), False, None, STANDOFF) if with_bar else None
    looks.take(4, *cabinet)
    looks.take(12, *cabinet, found("drawer", place, (0.25, 0.27, 0.11), "opened", front=front))
    assert ("drawer_1" in looks.reported) is believed


def test_a_drawer_that_is_larger_than_its_cabinet_is_none() -> None:
    tracker, (frame, _) = Tracker(), Camera().take([])
    shown = PixelBox(20.0, 20.0, 80.0, 80.0)
    cabinet = LocatedObject("cabinet", (0.62, 0.0, 0.115), (0.25, 0.28, 0.23), 0.9, 0.01, shown)
    huge = LocatedObject("drawer", (0.59, 0.0, 0.18), (0.92, 1.05, 0.67), 0.8, 0.01, shown, "opened")
    for look in range(8):
        tracked = tracker.update(
            replace(frame, stamp_ns=look * 100_000_000), [cabinet] if look < 4 else [cabinet, huge]
        )
    assert [each.object_id for each in tracked.objects] == ["cabinet_1"]


def _front(height: float) -> Front:
    return Front(np.pi, (0.441, 0.0, height), False, None, STANDOFF)


def test_one_object_may_be_found_again_and_found_to_be_another_in_one_look() -> None:
    """Whatever is seen: no id is reported twice, and none that ends in the same look."""
    looks = Looks()
    chance = np.random.default_rng(3)
    for _ in range(400):
        seen = [
            found(
                str(chance.choice(["apple", "drawer", "sink"])),
                (0.1 * chance.integers(-3, 4), 0.1 * chance.integers(-3, 4), 0.05 * chance.integers(1, 5)),
                (0.1, 0.1, 0.1) if chance.random() < 0.5 else (0.16, 0.1, 0.08),
            )
            for _ in range(chance.integers(0, 6))
        ]
        tracked = looks.take(1, *seen)
        names = [each.object_id for each in tracked.objects]
        assert len(names) == len(set(names))
        assert not set(tracked.gone) & set(names)


@pytest.mark.parametrize("kind", ["sink", "stove", "cupboard"])
def test_furniture_that_is_located_high_in_the_air_is_none_and_a_tray_on_a_cabinet_is_one(kind: str) -> None:
    looks = Looks()
    high, low = (found(kind, (0.2, -0.4, height), (0.28, 0.22, 0.08)) for height in (0.2, 0.04))
    cabinet = found("cabinet", (0.6, 0.3, 0.1), (0.3, 0.3, 0.2))
    looks.take(6, high)
    assert not looks.reported
    looks.take(6, low, cabinet)
    looks.take(6, low, cabinet, found("tray", (0.6, 0.3, 0.21), (0.2, 0.25, 0.02)))
    assert set(looks.reported) == {f"{kind}_1", "cabinet_1", "tray_1"}


def test_a_cupboard_on_a_wall_is_where_its_bar_is_seen() -> None:
    looks = Looks()
    front = Front(np.pi, (0.441, 0.0, 0.5), True, None, STANDOFF)
    looks.take(4, found("cupboard", (0.6, 0.0, 0.6), (0.3, 0.27, 0.3), "closed", front=front))
    assert set(looks.reported) == {"cupboard_1"}
