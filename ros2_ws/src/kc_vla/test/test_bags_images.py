from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.images import decode_image


def scene() -> np.ndarray:
    """Smooth, with a red left half, so that swapped colours show."""
    pixels = np.zeros((48, 64, 3), np.uint8)
    pixels[:, :32] = (220, 30, 10)
    pixels[:, 32:] = (20, 90, 200)
    return pixels


def compressed(kind: str, said: str) -> SimpleNamespace:
    done, data = cv2.imencode(f".{kind}", scene()[:, :, ::-1])
    assert done
    return SimpleNamespace(format=said, data=data.tobytes())


@pytest.mark.parametrize("said", ["jpeg", "rgb8; jpeg compressed bgr8", ""])
def test_a_jpeg_is_shown_in_its_colours(said: str) -> None:
    picture = decode_image(compressed("jpg", said), "/cam")
    assert np.abs(picture.astype(int) - scene()).mean() < 4


def test_a_png_is_exact() -> None:
    assert np.array_equal(decode_image(compressed("png", "png"), "/cam"), scene())


@pytest.mark.parametrize("kind", ["jpg", "png"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_compressed_picture_that_was_cut_off_is_refused(kind: str, share: float) -> None:
    message = compressed(kind, kind)
    message.data = message.data[: int(share * len(message.data))]
    with pytest.raises(BagReadError, match="an image on /cam is cut off or damaged"):
        decode_image(message, "/cam")


def test_a_camera_may_fill_up_its_jpegs() -> None:
    message = compressed("jpg", "jpeg")
    message.data += bytes(30)
    assert decode_image(message, "/cam").shape == (48, 64, 3)


@pytest.mark.parametrize("said", ["16UC1; compressedDepth png", "tiff"])
def test_other_forms_are_refused(said: str) -> None:
    message = compressed("png", said) if "png" in said else SimpleNamespace(format=said, data=b"II*\x00")
    with pytest.raises(BagReadError, match="only jpeg and png can be shown"):
        decode_image(message, "/cam")
