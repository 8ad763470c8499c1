from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.cameras.calibration import load_calibration
from kc_vla.cameras.errors import CalibrationError

EXAMPLE = Path(__file__).parents[4] / "calibration" / "cameras" / "example.yaml"


@pytest.fixture
def content() -> dict[str, Any]:
    return dict(yaml.safe_load(EXAMPLE.read_text()))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("calibration") / "camera.yaml"


def test_the_example_is_read() -> None:
    calibration = load_calibration(EXAMPLE)
    assert (calibration.width, calibration.height) == (640, 480)
    assert calibration.camera_name == "example"
    assert calibration.k[0] == 612.4
    assert len(calibration.p) == 12
    calibration.check_size(640, 480)


def test_pictures_of_another_size_are_refused() -> None:
    with pytest.raises(CalibrationError, match="for 640x480 px and the images have 320x240"):
        load_calibration(EXAMPLE).check_size(320, 240)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("image_width", "wide", "image_width is 'wide'"),
        ("image_width", True, "image_width is True"),
        ("image_height", 0, "image_height is 0"),
        ("distortion_model", "fancy", "distortion_model is 'fancy'"),
        ("camera_matrix", {"data": [1.0] * 8}, "camera_matrix must have a list 'data' of 3x3"),
        ("camera_matrix", {"data": [0.0] * 9}, "focal length"),
        ("camera_matrix", None, "camera_matrix must have"),
        ("projection_matrix", {"data": [float("nan")] * 12}, "not a finite number"),
        ("distortion_coefficients", {"data": [0.0] * 4}, "of 1x5 numbers"),
        ("projection_matrix", {"data": [10**400] * 12}, "not a finite number"),
        ("rectification_matrix", {"data": ["1"] * 9}, "not a finite number"),
    ],
)
def test_a_wrong_field_is_named(
    content: dict[str, Any], field: str, value: object, reason: str, tmp_path: Path
) -> None:
    content[field] = value
    path = tmp_path / "camera.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(CalibrationError, match=reason) as caught:
        load_calibration(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_one_that_is_no_yaml(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="No such file"):
        load_calibration(tmp_path / "nowhere.yaml")
    path = tmp_path / "camera.yaml"
    for text in ("a: [1", "- 1\n- 2\n", "", "\x00", "a: 2020-13-45", "[" * 3000):
        path.write_text(text)
        with pytest.raises(CalibrationError) as caught:
            load_calibration(path)
        assert "\n" not in str(caught.value)


@tried(100, 500)
@given(noise=st.binary(max_size=200))
def test_any_bytes_are_an_error_of_one_line(noise: bytes, scratch: Path) -> None:
    scratch.write_bytes(noise)
    with pytest.raises(CalibrationError) as caught:
        load_calibration(scratch)
    assert len(str(caught.value).splitlines()) == 1
