"""Training on drawn shapes: it learns all that a detector reports, goes on after a kill, and its export is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn_detections import WORDS, drawn_image, write_drawn

from kc_vla.cli.__main__ import main
from kc_vla.datasets.detections.folder import read_images
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import DataError, TrainingRunError
from kc_vla.learning.detector.config import DetectorConfig, load_detector_config
from kc_vla.learning.detector.evaluation import evaluate_detector
from kc_vla.learning.detector.networks import FoundObjects
from kc_vla.learning.detector.release import release_detector
from kc_vla.learning.detector.report import camera_frame
from kc_vla.learning.detector.restoring import restored_run
from kc_vla.learning.detector.run import DetectorRun, trained_detector
from kc_vla.learning.detector.training import train_detector
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.decoding import overlap
from kc_vla.perception.detector_model import MOST_OBJECTS, load_detector
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.learned import LearnedDetector

CPU = Device("cpu")
SETTINGS = {
    "size": "tiny",
    "image_size": "64",
    "batch": "8",
    "warm_up": "10",
    "average": "0.95",
    "learning_rate": "0.006",
    "judged": "20",
    "augmentation.cutout": "0.0",
    "augmentation.zoom": "1.15",
    "augmentation.jitter": "0.0",
    "augmentation.blur": "0.0",
    "augmentation.hue": "0.0",
    "augmentation.noise": "2.0",
    "augmentation.without_depth": "0.1",
    "weights.depth": "1.0",
}


def config(epochs: int, **changes: str) -> DetectorConfig:
    return load_detector_config(None, SETTINGS | {"epochs": str(epochs)} | changes)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    write_drawn(folder / "train", range(10_000, 10_040))
    write_drawn(folder / "validation", range(20_000, 20_010))
    write_drawn(folder / "test", range(30_000, 30_015))
    return folder


@pytest.fixture(scope="module")
def trained(drawn: Path) -> DetectorRun:
    torch.set_num_threads(1)
    return train_detector(drawn / "run", [drawn / "train"], [drawn / "validation"], config(15), CPU)


@pytest.fixture(scope="module")
def models(drawn: Path, trained: DetectorRun) -> Path:
    release_detector(trained, drawn / "models", "shapes")
    return drawn / "models"


def test_the_exported_detector_finds_shapes_with_state_color_and_place(drawn: Path, models: Path) -> None:
    detector = LearnedDetector(load_detector(models, "shapes"), "cpu", threshold=0.01)
    images = read_images([drawn / "test"])
    figures = evaluate_detector(images, lambda image: detector.detect(camera_frame(image, image.pixels())), 0.3, 0.1, 1)
    assert figures.mean.at_50 > 0.95
    assert figures.mean.average > 0.5, "boxes are about right, but not tight"
    assert figures.mean.low <= figures.mean.at_50 <= figures.mean.high
    assert figures.state_share > 0.9
    assert figures.colors[0] > 0.9 * figures.colors[1]
    assert np.median(figures.errors_mm) < 10, "how far the middle is behind the surface, 20 or 50 mm, was not learned"
    assert sum(count for _, count in figures.recalls) == 2 * len(images.images)


def test_the_onnx_file_says_what_the_network_says(models: Path, trained: DetectorRun) -> None:
    pixels, depth_m, _ = drawn_image(np.random.default_rng(5), 64)
    near = (1.0 / depth_m).astype(np.float32)
    model = load_detector(models, "shapes")
    found = LearnedDetector(model, "cpu")._session.run(None, {"pictures": pixels[None], "inverse_depth": near[None]})
    with torch.inference_mode():
        finder = FoundObjects(trained_detector(trained), WORDS).eval()
        expected = finder(torch.from_numpy(pixels[None]), torch.from_numpy(near[None]))
    assert found[0].shape == (1, MOST_OBJECTS)
    certain = found[0][0] > 0.05
    assert certain.any()
    for ours, theirs in zip(found, expected, strict=True):
        assert np.allclose(ours[0][certain], theirs.numpy()[0][certain], atol=1e-3)


@pytest.mark.parametrize(("width", "height"), [(128, 96), (64, 64), (200, 50), (48, 64)])
def test_boxes_are_in_pixels_of_the_image_whatever_its_size(models: Path, width: int, height: int) -> None:
    detector = LearnedDetector(load_detector(models, "shapes"), "cpu")
    side = max(width, height)
    pixels, depth_m, label = drawn_image(np.random.default_rng(11), side)
    above, left = (side - height) // 2, (side - width) // 2
    image = np.ascontiguousarray(pixels[above : above + height, left : left + width])
    matrix = label.matrix.copy()
    matrix[:2, 2] -= left, above
    depth_m = np.ascontiguousarray(depth_m[above : above + height, left : left + width])
    found = detector.detect(CameraFrame("third_person", 0, image, matrix, np.eye(4), depth_m))
    whole = [
        each
        for each in label.objects
        if left < each.box.left
        and each.box.right < left + width
        and above < each.box.top
        and each.box.bottom < above + height
    ]
    for each in whole:
        box = each.box._replace(
            left=each.box.left - left,
            right=each.box.right - left,
            top=each.box.top - above,
            bottom=each.box.bottom - above,
        )
        near = max(found, key=lambda one: overlap(one.box, box))
        assert overlap(near.box, box) > 0.4
        assert near.object_type == each.object_type
        assert near.center == pytest.approx((each.center[0] - left, each.center[1] - above), abs=side / 14)
        assert near.depth_m == pytest.approx(each.position[2], rel=0.1), "the depth follows the focal length"
    assert all(0 <= each.box.left < each.box.right <= width for each in found)
    assert all(0 <= each.box.top < each.box.bottom <= height for each in found)


def test_an_image_of_noise_gives_no_more_objects_than_the_bound(models: Path) -> None:
    detector = LearnedDetector(load_detector(models, "shapes"), "cpu", threshold=0.01)
    image = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    matrix = np.array([[600.0, 0.0, 320.0], [0.0, 600.0, 240.0], [0.0, 0.0, 1.0]])
    assert len(detector.detect(CameraFrame("third_person", 0, image, matrix, np.eye(4)))) <= MOST_OBJECTS


def test_a_state_is_one_that_the_type_can_be_in(models: Path) -> None:
    detector = LearnedDetector(load_detector(models, "shapes"), "cpu", threshold=0.01)
    chance = np.random.default_rng(3)
    found: list[ImageDetection] = []
    for _ in range(10):
        pixels, _, label = drawn_image(chance, 64)
        found += detector.detect(CameraFrame("third_person", 0, pixels, label.matrix, np.eye(4)))
    assert {each.state for each in found if each.object_type == "ball"} <= {"", "sliced"}
    assert {each.state for each in found if each.object_type == "box"} <= {"", "opened", "closed"}
    assert {"sliced", "opened", "closed"} <= {each.state for each in found}


def test_training_that_was_killed_goes_on_and_ends_with_the_same_weights(drawn: Path, tmp_path: Path) -> None:
    whole_config = config(2, every="7")  # 20 steps
    write_drawn(tmp_path / "few", range(10_000, 10_020))
    data, validation = [tmp_path / "few"], [drawn / "validation"]
    whole = train_detector(tmp_path / "whole", data, validation, whole_config, CPU)

    class KilledError(Exception):
        pass

    saved = DetectorRun.save

    def save_and_die(run: DetectorRun, name: str, state: dict[str, object]) -> None:
        saved(run, name, state)
        if state.get("step") == 14:
            raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DetectorRun, "save", save_and_die)
        with pytest.raises(KilledError):
            train_detector(tmp_path / "killed", data, validation, whole_config, CPU)
    resumed = train_detector(tmp_path / "killed", data, validation, whole_config, CPU)
    assert resumed.read_log() == whole.read_log()
    one, other = trained_detector(whole).state_dict(), trained_detector(resumed).state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_run_with_other_data_or_words_is_refused(drawn: Path, trained: DetectorRun, tmp_path: Path) -> None:
    with pytest.raises(TrainingRunError, match="other settings or data"):
        train_detector(trained.folder, [drawn / "test"], [drawn / "validation"], trained.config, CPU)
    others = replace(WORDS, types=("ball", "box", "mug"))
    write_drawn(tmp_path / "other", range(20_000, 20_001), words=others)
    with pytest.raises(DataError, match="another vocabulary"):
        train_detector(tmp_path / "run", [drawn / "train"], [tmp_path / "other"], config(1), CPU)


def test_a_released_model_says_as_a_run_what_it_said(models: Path, trained: DetectorRun, tmp_path: Path) -> None:
    restored = trained_detector(restored_run(models, "shapes", tmp_path / "run"))
    pixels, depth_m, _ = drawn_image(np.random.default_rng(7), 64)
    given = torch.from_numpy(pixels[None]), torch.from_numpy((1.0 / depth_m).astype(np.float32)[None])
    with torch.inference_mode():
        for ours, theirs in zip(restored(*given), trained_detector(trained)(*given), strict=True):
            assert torch.allclose(ours, theirs, atol=1e-3)


def test_training_goes_on_from_a_released_model_about_where_it_ended(
    drawn: Path, models: Path, trained: DetectorRun, tmp_path: Path
) -> None:
    folders = [str(drawn / "train"), "--validation", str(drawn / "validation"), "--precision", "fp32"]
    settings = {**SETTINGS, "epochs": "1", "learning_rate": "0.0005"}
    changes = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    run = tmp_path / "more"
    command = ["train", "detector", *folders, *changes, "--out", str(run), "--models", str(models)]
    assert main([*command, "--init", "shapes"]) == 0
    before, after = (each.read_log()[-1]["map_50"] for each in (trained, DetectorRun(run)))
    assert after > before - 0.1
    assert main([*command, "--init", "shapes"]) == 0, "the same command takes up the run"
    assert main([*command, "--init", "no such model"]) == 1
    assert (
        main(
            [
                *command[:-4],
                "--out",
                str(tmp_path / "other"),
                "--init",
                "shapes",
                "--models",
                str(models),
                "--set",
                "size=small",
            ]
        )
        == 1
    )


def test_the_commands_train_export_and_measure(drawn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(drawn / "train"), "--validation", str(drawn / "validation")]
    changes = [word for name, value in {**SETTINGS, "epochs": "1"}.items() for word in ("--set", f"{name}={value}")]
    run, models = str(tmp_path / "run"), str(tmp_path / "models")
    assert main(["train", "detector", *folders, "--out", run, *changes, "--precision", "fp32"]) == 0
    assert main(["export", "detector", run, "--models", models]) == 0
    assert main(["export", "detector", run, "--models", models]) == 1, "another one of that name is there"
    output = tmp_path / "eval"
    assert main(["eval", "detector", "detector", str(drawn / "test"), "--models", models, "-o", str(output)]) == 0
    told = capsys.readouterr()
    assert "mAP@0.5" in told.out
    assert "--replace" in told.err
    assert (output / "detector.md").read_text().startswith("detector: 60 images of 15 scenes")
    assert (output / "detector.png").stat().st_size > 10_000
