"""`kc-vla collect --detections`: labels that agree with the images and their depth, the same at each collection."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kc_vla.core.splits import seeds_of
from kc_vla.datasets.detections.folder import LabeledImages, read_images
from kc_vla_sim.collect import kitchen_play
from kc_vla_sim.kitchen.kinds import KINDS
from kc_vla_sim.kitchen.words import kitchen_words
from kc_vla_sim_cli import main

SCENES, MOMENTS, SIZE = 2, 3, 96


def collect(output: Path, *more: str, scenes: int = SCENES) -> int:
    words = ["--split", "development", "--episodes", str(scenes), "--moments", str(MOMENTS), "--processes", "1"]
    return main(["collect", "--detections", *words, "--image-size", str(SIZE), "-o", str(output), *more])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("detections")
    assert collect(output) == 0
    return output / "development"


@pytest.fixture(scope="module")
def images(folder: Path) -> LabeledImages:
    return read_images([folder])


def test_each_moment_gives_an_image_of_each_camera_with_objects_in_it(images: LabeledImages) -> None:
    assert Counter(each.label.camera for each in images.images) == dict.fromkeys(
        ("third_person", "wrist"), SCENES * MOMENTS
    )
    objects = [thing for each in images.images for thing in each.label.objects]
    kinds = {thing.object_type for thing in objects}
    assert {"cabinet", "drawer", "microwave", "stove"} <= kinds
    assert len(kinds & KINDS.keys()) >= 8
    assert images.vocabulary == kitchen_words()
    assert all(each.pixels().std() > 5 for each in images.images if each.label.camera == "third_person")


def test_labels_agree_with_the_depth_image_and_the_lens(images: LabeledImages) -> None:
    measured = 0
    for each in images.images:
        label, depth = each.label, each.depth()
        for thing in label.objects:
            assert 0 <= thing.box.left < thing.box.right <= SIZE
            assert 0 <= thing.box.top < thing.box.bottom <= SIZE
            assert 0 <= thing.visible_share <= 1
            assert thing.pixels <= (thing.box.right - thing.box.left) * (thing.box.bottom - thing.box.top)
            x, y, z = thing.position
            u, v, _ = label.matrix @ (x / z, y / z, 1.0)
            assert thing.center == pytest.approx((u, v), abs=1e-3)
            if thing.surface_m is not None:
                assert depth[int(thing.center[1]), int(thing.center[0])] == pytest.approx(thing.surface_m, abs=2e-3)
                measured += 1
                if thing.object_type in KINDS:
                    assert abs(z - thing.surface_m) < np.linalg.norm(thing.size), "its middle is inside of it"
    assert measured > 20


def test_states_are_those_of_the_type_and_both_of_a_door_occur(images: LabeledImages) -> None:
    words = images.vocabulary
    doors = set()
    for each in images.images:
        for thing in each.label.objects:
            assert set(thing.states) == set(words.groups.get(thing.object_type, ()))
            if "door" in thing.states:
                doors.add(thing.states["door"])
    assert doors == {"opened", "closed"}


def test_what_the_gripper_holds_is_said_and_is_near_the_hand(images: LabeledImages) -> None:
    for each in images.images:
        held = [thing for thing in each.label.objects if thing.held]
        assert len(held) <= 1
        if held and each.label.camera == "wrist":
            assert held[0].position[2] < 0.35


def test_an_interrupted_collection_goes_on_and_gives_the_same(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collect(tmp_path, scenes=1) == 0
    assert collect(tmp_path) == 0
    assert "2 scenes, 1 of them before" in capsys.readouterr().out
    for seed in seeds_of("development", SCENES):
        name = f"scene_{seed:06d}.zip"
        assert (tmp_path / "development" / name).read_bytes() == (folder / name).read_bytes()
    assert collect(tmp_path, "--visual-randomization", "varied") == 1
    assert "was begun with looks 'standard'" in capsys.readouterr().err


def test_an_arm_that_plays_gives_images_of_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = kitchen_play.draw_sequence
    monkeypatch.setattr(
        kitchen_play, "draw_sequence", lambda seed: replace(draw(seed), instructions=draw(seed).instructions[:1])
    )
    assert collect(tmp_path, "--played", scenes=1) == 0
    images = read_images([tmp_path / "development"]).images
    assert len({each.label.pose.tobytes() for each in images if each.label.camera == "wrist"}) > 3, "the arm moves"
    held = [thing for each in images for thing in each.label.objects if thing.held]
    assert held, "it carries what it is asked for"
    assert collect(tmp_path, scenes=1) == 1, "the folder was begun in another way"


def test_an_arm_plays_in_standard_kitchens_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collect(tmp_path, "--played", "--assets", "libero", scenes=1) == 1
    assert "leave --assets out" in capsys.readouterr().err
