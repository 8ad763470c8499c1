"""The kitchen of LIBERO's meshes, with the packages that have them; skipped where they are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from kc_vla.datasets.detections.folder import read_images
from kc_vla_sim.envs.kitchen import KitchenEnv
from kc_vla_sim.envs.kitchen_bodies import entity_of
from kc_vla_sim.errors import AssetsError
from kc_vla_sim.kitchen.asset_set import AssetSet
from kc_vla_sim.kitchen.asset_sets import find_assets
from kc_vla_sim.kitchen.furnishings import DOOR_TRAVEL
from kc_vla_sim.kitchen.kinds import KINDS
from kc_vla_sim.kitchen.layout import draw_layout
from kc_vla_sim.kitchen.libero.furniture import CABINETS, DRAWER_TRAVEL, MICROWAVE_MODEL
from kc_vla_sim.kitchen.libero.mjcf import read_model
from kc_vla_sim.kitchen.libero.source import assets_folder
from kc_vla_sim.kitchen.stocking import FEWEST_THINGS
from kc_vla_sim.kitchen.words import kitchen_words
from kc_vla_sim.simulator import Simulator
from kc_vla_sim_cli import main


def missing() -> str:
    """Return why the packages cannot be used; empty where they can."""
    try:
        assets_folder()
    except AssetsError as error:
        return str(error)
    return ""


pytestmark = [pytest.mark.nightly, pytest.mark.skipif(bool(missing()), reason=missing() or "installed")]


@pytest.fixture(scope="module")
def assets() -> AssetSet:
    return find_assets("libero")


@pytest.fixture(scope="module")
def simulator(assets: AssetSet) -> Iterator[Simulator]:
    made = Simulator(192, assets=assets.name, depth=True)
    yield made
    made.close()


def world_of(simulator: Simulator) -> KitchenEnv:
    world: KitchenEnv = simulator._env.unwrapped
    return world


def test_every_thing_is_as_large_as_it_says_has_few_triangles_and_is_grasped_where_it_says_so(assets: AssetSet) -> None:
    assert set(KINDS) < set(assets.kinds)
    textured = set()
    for name, kind in assets.kinds.items():
        for colour in kind.colours:
            for state in kind.states:
                body = kind.made(colour, state)
                points = np.concatenate([part.mesh.vertices for part in body.parts])
                np.testing.assert_allclose(np.ptp(points, axis=0), body.size, atol=1e-5)
                assert sum(len(part.mesh.triangles) for part in body.parts) < 3000
                assert not kind.graspable or min(body.size) * 1.08 < 0.08
                if any(part.skin is not None for part in body.parts):
                    textured.add((name, colour))
                for solid in body.solids:
                    assert min(solid.size) > 0.004
                    assert (np.abs(solid.position) - np.array(solid.size) / 2 < np.array(body.size) / 2 + 0.005).all()
    assert len(textured) == 43
    assert {"mug", "bowl", "plate", "bottle", "can", "milk", "orange_juice", "moka_pot"} <= {
        name for name, _ in textured
    }


def test_joints_of_the_models_reach_as_far_as_those_of_the_kitchen_and_as_directed() -> None:
    for model in CABINETS.values():
        joints = read_model(assets_folder() / model.file).joints
        assert [joint.kind for joint in joints] == ["slide"] * 3
        for joint in joints:
            np.testing.assert_allclose(joint.axis, (0, 1, 0), atol=1e-9)
            assert -joint.limits[0] >= DRAWER_TRAVEL
    (door,) = read_model(assets_folder() / MICROWAVE_MODEL.file).joints
    np.testing.assert_allclose(np.abs(door.axis), (0, 0, 1), atol=1e-9)
    assert -door.limits[0] >= DOOR_TRAVEL


def test_nothing_stands_in_another_and_every_kind_occurs(assets: AssetSet) -> None:
    layouts = [draw_layout(seed, assets=assets) for seed in range(60)]
    for layout in layouts:
        assert len(layout.things) >= FEWEST_THINGS
        for one, other in combinations(layout.furniture, 2):
            assert not one.footprint.overlaps(other.footprint)
        for one, two in combinations(layout.things, 2):
            together = (one.relation, one.holder) == (two.relation, two.holder)
            assert not together or not one.footprint.overlaps(two.footprint)
    things = [thing for layout in layouts for thing in layout.things]
    assert {thing.kind.name for thing in things} == set(assets.kinds)
    assert {thing.holder for thing in things} >= {"drawer_1", "drawer_2", "drawer_3", "cupboard", "microwave", "stove"}
    assert {layout["cabinet"].furniture.colour for layout in layouts} == set(CABINETS)


def test_drawers_and_doors_hide_what_is_in_them_until_they_are_opened(assets: AssetSet, simulator: Simulator) -> None:
    closed = (
        seed
        for seed in range(300)
        if not any(value for unit in draw_layout(seed, assets=assets).furniture for value in unit.openings.values())
        and {"drawer_1", "microwave"} <= {thing.holder for thing in draw_layout(seed, assets=assets).things}
    )
    frame = simulator.reset("kitchen", next(closed))
    world = world_of(simulator)
    inside = {
        each.object_id
        for each in frame.detections
        if each.attributes.get("place", "").startswith(("in drawer", "in microwave"))
        and each.object_type in assets.kinds
    }
    assert len(inside) >= 2
    numbers = {entity_of(world.kitchen.things[name].actor).per_scene_id for name in inside}
    for capture in world.captures().values():
        assert not numbers & set(np.unique(capture.bodies).tolist())
    unit = world.kitchen.unit_of("drawer_1")
    unit.drive("drawer_1", DRAWER_TRAVEL)
    for _ in range(40):
        frame = simulator.hold()
    states = {each.object_id: each.state for each in frame.detections}
    assert [states[f"drawer_{number}"] for number in (1, 2, 3)] == ["opened", "closed", "closed"], "it drags no other"


def test_the_image_changes_with_what_is_switched_on_and_with_the_state_of_a_mug(
    assets: AssetSet, simulator: Simulator
) -> None:
    seed = next(
        seed
        for seed in range(400)
        if draw_layout(seed, assets=assets)["stove"].y > 0.2
        and any(each.kind.name == "mug" and each.y > 0.2 for each in draw_layout(seed, assets=assets).things)
    )
    frame = simulator.reset("kitchen", seed)
    world = world_of(simulator)
    images = []
    for on in (False, True):
        world.kitchen.unit_of("stove").switch(on)
        frame = simulator.redrawn(frame)
        images.append(frame.views["third_person"].astype(int))
    left, top, right, bottom = frame.visible["third_person"]["stove"].box
    changed = np.abs(images[1] - images[0]).max(axis=2) > 60
    assert changed.sum() > 10
    assert changed[top:bottom, left:right].sum() == changed.sum()
    name = next(name for name, thing in world.kitchen.things.items() if thing.placed.kind.name == "mug")
    looks = []
    for state in ("cleaned", "dirty", "filled"):
        world.kitchen.things[name].set_state(state)
        looks.append(simulator.redrawn(frame).views["third_person"].astype(int))
    assert all((np.abs(one - other).max(axis=2) > 25).sum() >= 3 for one, other in combinations(looks, 2))


def test_the_expert_makes_its_tour_and_pulls_one_drawer_alone(simulator: Simulator) -> None:
    simulator.draws = False
    frame = simulator.reset("kitchen", 20001)
    while not frame.done:
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    simulator.draws = True
    assert frame.success, frame.reason
    events = simulator.kitchen_events()
    assert ("opened", "drawer_1", "arm") in {(each.what, each.object_id, each.by) for each in events}
    assert not {"drawer_2", "drawer_3"} & {each.object_id for each in events}


@pytest.mark.parametrize("looks", ["standard", "varied"])
def test_images_for_a_detector_have_its_words(assets: AssetSet, tmp_path: Path, looks: str) -> None:
    words = ["collect", "--detections", "--assets", "libero", "--split", "development", "--episodes", "3"]
    more = ["--moments", "2", "--image-size", "96", "--processes", "1", "--visual-randomization", looks]
    assert main([*words, *more, "-o", str(tmp_path)]) == 0
    images = read_images([tmp_path / "development"])
    assert images.vocabulary == kitchen_words(assets.kinds)
    kinds = {thing.object_type for each in images.images for thing in each.label.objects}
    assert kinds & (set(assets.kinds) - set(KINDS))
    assert "cabinet" in kinds
