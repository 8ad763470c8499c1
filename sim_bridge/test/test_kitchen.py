"""The kitchen as cameras see it and as it is touched."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from nightly import at_night
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.kitchen import KitchenEnv, kitchen_of
from kc_vla_sim.envs.kitchen_bodies import entity_of
from kc_vla_sim.envs.kitchen_tour import STAGES
from kc_vla_sim.errors import BadTaskError, EpisodeOverError
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.kitchen import errands, legs
from kc_vla_sim.kitchen.errands import StandingThing
from kc_vla_sim.kitchen.layout import draw_layout
from kc_vla_sim.kitchen.legs import TourLeg, TourProgress
from kc_vla_sim.kitchen.placed import KitchenLayout
from kc_vla_sim.simulator import Simulator

BOTH = ("third_person", "wrist")
SHUT_IN = next(
    seed
    for seed in range(100)
    if not any(value for unit in draw_layout(seed).furniture for value in unit.openings.values())
    and {"drawer_1", "drawer_2", "cupboard", "microwave"} <= {thing.holder for thing in draw_layout(seed).things}
)
"""A kitchen in which all is closed, and in everything is something."""


@pytest.fixture(scope="module")
def deep() -> Iterator[Simulator]:
    simulator = Simulator(image_size=192, depth=True)
    yield simulator
    simulator.close()


def world_of(simulator: Simulator) -> KitchenEnv:
    return kitchen_of(simulator.environment)


def test_only_a_kitchen_that_was_begun_is_one() -> None:
    with pytest.raises(EpisodeOverError, match="no episode yet"):
        _ = Simulator(image_size=16, draw=False).environment
    with pytest.raises(BadTaskError, match="SimpleNamespace is no kitchen: reset the simulator to the task 'kitchen'"):
        kitchen_of(SimpleNamespace())


def points_in_base(simulator: Simulator, frame: SimulatedFrame, pixels: np.ndarray) -> np.ndarray:
    """Return where in the base frame the third-person camera sees its `pixels` (H, W) of bool: (N, 3), m."""
    camera = simulator.cameras[0]
    rows, columns = np.nonzero(pixels)
    depth = frame.depth[BOTH[0]][rows, columns]
    rays = np.linalg.inv(np.array(camera.k)) @ np.stack([columns + 0.5, rows + 0.5, np.ones(len(rows))])
    return Rotation.from_quat(camera.pose.quaternion).apply((rays * depth).T) + camera.pose.position


def bodies_of(world: KitchenEnv, name: str) -> np.ndarray:
    """Return where the third-person camera sees a thing, (H, W) of bool."""
    return world.captures([BOTH[0]])[BOTH[0]].bodies == entity_of(world.kitchen.things[name].actor).per_scene_id


def test_what_is_behind_a_closed_front_has_no_pixel_until_it_is_opened(deep: Simulator) -> None:
    frame = deep.reset("kitchen", SHUT_IN)
    world = world_of(deep)
    places = {each.object_id: each.attributes.get("place", "") for each in frame.detections}
    hidden = {
        name for name, place in places.items() if place in {"in drawer_1", "in drawer_2", "in cupboard", "in microwave"}
    }
    assert len(hidden) >= 4
    numbers = {entity_of(world.kitchen.things[name].actor).per_scene_id for name in hidden}
    for capture in world.captures().values():
        assert not numbers & set(np.unique(capture.bodies).tolist())
    assert not hidden & {name for view in frame.visible.values() for name in view}

    unit = world.kitchen.unit_of("drawer_1")
    unit.set_openings(dict.fromkeys(unit.openings, 0.0) | {"drawer_1": unit.furniture.piece("drawer_1").travel})
    frame = deep.redrawn(frame)
    assert deep.hold().visible[BOTH[0]]["drawer_1"].pixels > frame.visible[BOTH[0]]["cabinet"].pixels / 10
    state = {each.object_id: each.state for each in world.detections()}
    assert (state["drawer_1"], state["drawer_2"], state["cupboard"]) == ("opened", "closed", "closed")


def test_the_worktop_and_a_ball_are_where_depth_says(deep: Simulator) -> None:
    seed = next(
        s
        for s in range(200)
        if any(t.kind.name == "orange" and t.y > 0.2 and t.holder == "worktop" for t in draw_layout(s).things)
    )
    frame = deep.reset("kitchen", seed)
    world = world_of(deep)
    capture = world.captures()[BOTH[0]]
    np.testing.assert_array_equal(capture.depth, frame.depth[BOTH[0]])
    table = next(each for name, each in world.scene.actors.items() if name == "table")
    heights = points_in_base(deep, frame, capture.bodies == entity_of(table).per_scene_id)[:, 2]
    assert np.median(np.abs(heights)) < 0.002

    truth = next(each for each in frame.detections if each.object_type == "orange")
    points = points_in_base(deep, frame, bodies_of(world, truth.object_id))
    radius = truth.size[0] / 2
    fitted = least_squares(
        lambda c: np.linalg.norm(points - c, axis=1) - radius, points.mean(axis=0), loss="soft_l1", f_scale=0.002
    )
    assert np.linalg.norm(fitted.x - truth.pose.position) < 0.005


def test_the_truth_of_what_is_visible_is_the_segmentation(deep: Simulator) -> None:
    frame = deep.reset("kitchen", 3)
    world = world_of(deep)
    for view, capture in world.captures().items():
        for name, thing in world.kitchen.things.items():
            rows, columns = np.nonzero(capture.bodies == entity_of(thing.actor).per_scene_id)
            seen = frame.visible[view].get(name)
            assert (seen.pixels if seen else 0) == len(rows)
            if seen is not None:
                assert seen.box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
                assert 0 < seen.share <= 1
    shares = [seen.share for view in frame.visible.values() for seen in view.values()]
    assert max(shares) > 0.9


@pytest.mark.parametrize("name", ["stove", "microwave"])
def test_what_is_switched_on_is_lit(deep: Simulator, name: str) -> None:
    seed = next(
        s for s in range(100) if draw_layout(s)[name].y > 0.2 and not any(draw_layout(s)[name].openings.values())
    )
    frame = deep.reset("kitchen", seed)
    unit = world_of(deep).kitchen.unit_of(name)
    images = {}
    for on in (False, True):
        unit.switch(on)
        frame = deep.redrawn(frame)
        images[on] = frame.views[BOTH[0]].astype(int)
        assert next(e.state for e in world_of(deep).detections() if e.object_id == name) == (
            "on" if on else {"stove": "off"}.get(name, "closed")
        )
    changed = np.abs(images[True] - images[False]).max(axis=2) > 60
    left, top, right, bottom = frame.visible[BOTH[0]][name].box
    assert changed.sum() > 15
    assert changed[top:bottom, left:right].sum() == changed.sum()


@pytest.mark.parametrize(
    ("kind", "states"),
    [("mug", ("cleaned", "dirty", "filled")), ("plate", ("cleaned", "dirty")), ("pot", ("", "filled"))],
)
def test_a_state_of_a_thing_is_seen_and_told(deep: Simulator, kind: str, states: tuple[str, ...]) -> None:
    seed, name = next(
        (s, thing.thing_id)
        for s in range(300)
        for thing in draw_layout(s).things
        if thing.kind.name == kind and thing.y > 0.25 and thing.holder in ("worktop", "tray", "sink")
    )
    frame = deep.reset("kitchen", seed)
    world = world_of(deep)
    shown = []
    for state in states:
        world.kitchen.things[name].set_state(state)
        shown.append(deep.redrawn(frame).views[BOTH[0]].astype(int)[bodies_of(world, name)])
        assert next(each.state for each in world.detections() if each.object_id == name) == state
    for one, other in pairwise(shown):
        assert len(one) != len(other) or (np.abs(one - other).max(axis=1) > 40).sum() > 5
    with pytest.raises(ValueError, match=f"{name} cannot become 'sliced': choose one of "):
        world.kitchen.things[name].set_state("sliced")


def follow(simulator: Simulator, way: list[TourLeg]) -> None:
    """Let the arm go along legs."""
    tour = world_of(simulator).tour
    tour.legs, tour.progress = way, TourProgress()
    while tour.legs is way and tour.progress.leg < len(way):
        simulator.step(simulator.expert.plan(1)[0][0])


@pytest.mark.parametrize(("name", "least"), [("drawer_1", 0.09), *at_night(("cupboard", 1.0))])
def test_the_arm_opens_and_shuts_by_contact_and_what_it_leaves_stays(name: str, least: float) -> None:
    simulator = Simulator(image_size=16, draw=False)
    simulator.reset("kitchen", SHUT_IN)
    unit = world_of(simulator).kitchen.unit_of(name)
    piece, placed = unit.furniture.piece(name), unit.placed
    other = {each: value for each, value in unit.openings.items() if each != name}
    target = 0.9 * piece.travel
    way = legs.swing_door(placed, piece, 0.0, target) if piece.pivot else legs.pull_drawer(placed, piece, 0.0, target)
    follow(simulator, list(way))
    opened = unit.openings[name]
    assert opened > least
    for _ in range(20):
        simulator.hold()
    assert unit.openings[name] == pytest.approx(opened, abs=0.02 * piece.travel)
    assert all(unit.openings[each] == pytest.approx(value, abs=0.003) for each, value in other.items())
    way = legs.swing_door(placed, piece, opened, 0.0) if piece.pivot else legs.push_drawer(placed, piece, opened)
    follow(simulator, list(way))
    assert unit.openings[name] < 0.05 * piece.travel
    simulator.close()


def standing(layout: KitchenLayout) -> list[StandingThing]:
    return [
        StandingThing(each.thing_id, each.kind, each.x, each.y, each.z, each.yaw, each.body.size, f"on {each.holder}")
        for each in layout.things
    ]


def test_the_arm_takes_a_thing_from_the_worktop_and_puts_it_elsewhere() -> None:
    layout = draw_layout(112)
    things = standing(layout)
    chosen = errands.things_for_arm(things, layout.furniture)[0]
    spot = errands.spot_on_worktop(chosen, things, layout.furniture, 0)
    assert spot is not None
    assert np.hypot(spot.x - chosen.x, spot.y - chosen.y) > 0.09
    simulator = Simulator(image_size=16, draw=False)
    simulator.reset("kitchen", 112)
    yaw = errands.grasp_yaw(chosen)
    here, there = np.array([chosen.x, chosen.y, chosen.z]), np.array([spot.x, spot.y, chosen.z + 0.003])
    follow(simulator, list(legs.pick_and_place(here, yaw, there, yaw)))
    place = next(each for each in simulator.hold().detections if each.object_id == chosen.thing_id).pose.position
    assert np.linalg.norm(np.array(place) - there) < 0.04
    simulator.close()


def test_what_a_second_hand_carries_pushes_nothing_and_stands_where_it_is_put() -> None:
    simulator = Simulator(image_size=16, draw=False)
    before = simulator.reset("kitchen", SHUT_IN)
    world = world_of(simulator)
    thing = next(each for each in world.kitchen.things.values() if each.placed.holder == "worktop")
    world.tour.hand.carry(thing, [-0.3, 0.0, thing.pose.p[2]], 0.5)
    after = simulator.hold()
    while world.tour.hand.busy:
        after = simulator.hold()
    for _ in range(10):
        after = simulator.hold()
    places = {each.object_id: np.array(each.pose.position) for each in before.detections}
    for each in after.detections:
        if each.object_id != thing.placed.thing_id:
            np.testing.assert_allclose(each.pose.position, places[each.object_id], atol=0.005)  # things settle at first
            continue
        assert np.linalg.norm(np.array(each.pose.position)[:2] - (0.315, 0.0)) < 0.01
        assert each.attributes["place"] == "on worktop"
    np.testing.assert_allclose(after.joint_positions, before.joint_positions, atol=0.02)
    simulator.close()


def test_a_second_hand_puts_a_thing_into_the_open_drawer_in_view_and_it_is_told() -> None:
    simulator = Simulator(image_size=16, draw=False)
    frame = simulator.reset("kitchen", SHUT_IN)
    while not any(event.what == "moved" for event in world_of(simulator).events):
        frame = simulator.step(simulator.expert.plan(1)[0][0])
        assert not frame.done
    opened, moved = world_of(simulator).events
    assert (opened.what, opened.object_id, opened.by, opened.in_view) == ("opened", "drawer_1", "arm", True)
    assert (moved.after, moved.by, moved.in_view, moved.step) == ("in drawer_1", "hand", True, frame.index)
    assert moved.before.startswith("on ")
    assert next(e for e in frame.detections if e.object_id == moved.object_id).attributes["place"] == "in drawer_1"
    simulator.close()


@pytest.mark.parametrize("seed", at_night(0, 1))
def test_the_expert_completes_its_tour(seed: int) -> None:
    simulator = Simulator(image_size=16, draw=False)
    frame = simulator.reset("kitchen", seed)
    while not frame.done:
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    assert (frame.reason, frame.completed_stages) == ("success", STAGES)
    labels = [keyframe.label for keyframe in simulator.keyframes]
    assert labels[0] == "start"
    assert labels[-1] == "thing moved"
    simulator.close()


def test_a_frame_that_nobody_looks_at_is_not_drawn_and_can_be_drawn_later(deep: Simulator) -> None:
    drawn = deep.reset("kitchen", 4)
    deep.draws = False
    undrawn = deep.reset("kitchen", 4)
    deep.draws = True
    assert (undrawn.views[BOTH[0]].size, undrawn.depth, undrawn.visible) == (0, {}, {})
    again = deep.redrawn(undrawn)
    for view in BOTH:
        np.testing.assert_array_equal(again.views[view], drawn.views[view])
        np.testing.assert_array_equal(again.depth[view], drawn.depth[view])
    assert again.visible == drawn.visible


def test_depth_changes_no_image_of_other_tasks_and_is_there_only_where_it_is_asked_for(
    deep: Simulator, drawn: Simulator
) -> None:
    plain = drawn.reset("counting", 5)
    assert (plain.depth, plain.visible) == ({}, {})
    simulator = Simulator(image_size=(96, 64), variant="paper", depth=True)
    measured = simulator.reset("counting", 5)
    for view in BOTH:
        np.testing.assert_array_equal(plain.views[view], measured.views[view])
        assert measured.depth[view].shape == (64, 96)
        assert measured.depth[view].dtype == np.float32
    assert measured.visible == {}
    simulator.close()
