"""What is in a kitchen and where, drawn from a seed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.kinds import KINDS, ThingKind
from kc_vla_sim.kitchen.layout import LEAST_REACH, MOST_REACH, REACH, draw_layout
from kc_vla_sim.kitchen.meshes import ball, box, joined, lathe, pillar
from kc_vla_sim.kitchen.placed import KitchenLayout, PlacedThing
from kc_vla_sim.kitchen.stocking import FEWEST_THINGS

seeds = st.integers(0, 2**32 - 1)
reaches = st.floats(LEAST_REACH, MOST_REACH)


def told(layout: KitchenLayout) -> list[object]:
    """Return all that a layout says."""
    furniture = [
        (each.furniture.name, each.furniture.colour, each.x, each.y, each.openings, each.on)
        for each in layout.furniture
    ]
    things = [(each.thing_id, each.colour, each.state, each.x, each.y, each.z, each.yaw) for each in layout.things]
    return [*furniture, *things]


@given(seeds)
@settings(max_examples=5, deadline=None)
def test_a_seed_is_one_kitchen(seed: int) -> None:
    assert told(draw_layout(seed)) == told(draw_layout(seed))
    assert told(draw_layout(seed)) != told(draw_layout((seed + 1) % 2**32))


@given(seeds, reaches)
@settings(max_examples=12, deadline=None)
def test_nothing_stands_in_another_or_before_a_door_and_all_is_within_reach(seed: int, reach: float) -> None:
    layout = draw_layout(seed, reach)
    assert len(layout.things) >= (FEWEST_THINGS if reach >= REACH else FEWEST_THINGS - 4)
    for one, other in combinations(layout.furniture, 2):
        assert not one.footprint.overlaps(other.footprint)
    for one, other in combinations(layout.things, 2):
        together = (one.relation, one.holder) == (other.relation, other.holder)
        assert not together or not one.footprint.overlaps(other.footprint)
    for thing in layout.things:
        assert np.hypot(thing.x, thing.y) <= reach
        in_the_way = [each for each in layout.furniture if each.kept_free.overlaps(thing.footprint)]
        assert thing.holder != "worktop" or not in_the_way
    for unit in layout.furniture:
        for piece in unit.furniture.moving:
            for opening in np.linspace(0, piece.travel, 4):
                x, y, _ = piece.handle_at(float(opening))
                assert np.hypot(*unit.point(float(x), float(y))) <= reach


def test_a_reach_that_is_too_short_or_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no kitchen for a reach of 0.5 m: choose 0.69 to 0.78 m"):
        draw_layout(1, 0.5)


def test_many_kitchens_have_every_kind_in_every_state_open_and_closed_things_and_hidden_ones() -> None:
    layouts = [draw_layout(seed) for seed in range(45)]
    things = [thing for layout in layouts for thing in layout.things]
    assert {(thing.kind.name, thing.state) for thing in things} == {
        (kind.name, state) for kind in KINDS.values() for state in kind.states
    }
    assert {thing.colour for thing in things if thing.kind.name == "mug"} == set(KINDS["mug"].colours)
    openings = {
        (name, value > 0) for each in layouts for unit in each.furniture for name, value in unit.openings.items()
    }
    names = ("drawer_1", "drawer_2", "cupboard", "microwave")
    assert openings == {(name, opened) for name in names for opened in (False, True)}
    assert {(unit.furniture.name, unit.on) for each in layouts for unit in each.furniture if unit.furniture.lit} == {
        (name, on) for name in ("stove", "microwave") for on in (False, True)
    }
    assert {thing.holder for thing in things} >= {*names, "worktop", "tray", "sink", "stove", "cabinet"}
    orders = {tuple(sorted(("cabinet", "cupboard", "microwave"), key=lambda name: each[name].y)) for each in layouts}
    assert len(orders) == 6


def first_moving(layout: KitchenLayout) -> list[PlacedThing]:
    return [thing for thing in layout.things if thing.holder == "drawer_1"]


def test_what_is_in_an_open_drawer_is_as_far_out_as_the_drawer() -> None:
    seed = next(s for s in range(50) if draw_layout(s)["cabinet"].openings["drawer_1"] and first_moving(draw_layout(s)))
    unit = draw_layout(seed)["cabinet"]
    opening = unit.openings["drawer_1"]
    (space,) = (each for each in unit.furniture.spaces if each.holder == "drawer_1")
    for thing in first_moving(draw_layout(seed)):
        low, high = unit.x + space.low[0] - opening, unit.x + space.high[0] - opening
        assert low <= thing.x <= high


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_thing_is_as_large_as_it_says_has_few_triangles_and_a_gripper_gets_around_it_if_it_says_so(
    kind: ThingKind,
) -> None:
    for state in kind.states:
        body = kind.made(kind.colours[0], state)
        points = np.concatenate([part.mesh.vertices for part in body.parts])
        np.testing.assert_allclose(points.max(axis=0), np.array(body.size) / 2, atol=1e-6)
        np.testing.assert_allclose(points.min(axis=0), -np.array(body.size) / 2, atol=1e-6)
        assert sum(len(part.mesh.triangles) for part in body.parts) < 450
        assert not kind.graspable or min(body.size) * 1.08 < 0.08
        assert len(body.merged()) <= len(body.parts)
    with pytest.raises(ValueError, match=rf"a {kind.name} is never 'painted': choose one of "):
        kind.made(kind.colours[0], "painted")


@given(st.floats(0.01, 2.0), st.floats(0.01, 2.0))
@settings(max_examples=20, deadline=None)
def test_meshes_are_closed_and_look_outwards(width: float, height: float) -> None:
    for mesh, volume in (
        (box((width, width, height)), width * width * height),
        (lathe(pillar(width, height), segments=60), np.pi * width**2 * height),
        (lathe(ball(width, 40), segments=60), 4 / 3 * np.pi * width**3),
        (joined([box((width, 1, 1)), box((height, 1, 1)).moved((9, 9, 9))]), width + height),
    ):
        corners = mesh.vertices[mesh.triangles].astype(float)
        enclosed = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
        assert enclosed == pytest.approx(volume, rel=0.01)
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (np.einsum("ti,ti->t", across, mesh.normals[mesh.triangles].mean(axis=1)) > 0).all()


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-3, 3))
@settings(max_examples=50, deadline=None)
def test_footprints_overlap_as_their_points_do(x: float, y: float, yaw: float) -> None:
    one, other = Footprint(0, 0, 0.8, 0.4, 0.3), Footprint(x, y, 0.5, 0.3, yaw)
    grid = np.stack(np.meshgrid(np.linspace(-0.5, 0.5, 60), np.linspace(-0.5, 0.5, 60)), axis=-1).reshape(-1, 2)
    points = np.array([x, y]) + (grid * (0.5, 0.3)) @ other.axes
    inside = np.abs(points @ one.axes.T) < np.array([0.4, 0.2])
    if inside.all(axis=1).any():
        assert one.overlaps(other)
        assert other.overlaps(one)
    if not one.grown(0.02).overlaps(other):
        assert not inside.all(axis=1).any()
