"""Depth and color in the transports of others: PNG, compressedDepth in mm and as inverse depth, and what is damaged."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_desk import packed_depth
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import Header

from kc_vla.media.images import ImageError
from kc_vla.media.packed_images import check_depth_image, depth_image_metres, shows_depth, sized

DEPTH = np.linspace(0.3, 4.0, 12 * 16, dtype=np.float32).reshape(12, 16)
KINDS = [("16UC1", "compressedDepth"), ("32FC1", "compressedDepth"), ("16UC1", "compressed")]


def packed(kind: str, transport: str, depth: np.ndarray = DEPTH) -> CompressedImage:
    return packed_depth(depth, kind, transport, Header(frame_id="camera"))


@pytest.mark.parametrize(("kind", "transport"), KINDS)
def test_depth_of_each_transport_is_the_depth_that_was_packed(kind: str, transport: str) -> None:
    hole = DEPTH.copy()
    hole[3, 4] = 0.0
    message = packed(kind, transport, hole)
    check_depth_image(message)
    found = depth_image_metres(message)
    assert np.isnan(found[3, 4])
    known = np.isfinite(found)
    assert known.sum() == hole.size - 1
    assert np.allclose(found[known], hole[known], rtol=0.0004 if kind == "16UC1" else 0.02, atol=0.0006)
    assert shows_depth(message)
    assert (sized(message).width, sized(message).height) == (16, 12)


def test_a_raw_image_is_what_it_is() -> None:
    message = Image(width=2, height=1, step=4, encoding="16UC1", data=np.array([500, 0], np.uint16).tobytes())
    assert sized(message) is message
    assert shows_depth(message)
    assert depth_image_metres(message)[0, 0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("form", "data", "words"),
    [
        ("16UC1; compressedDepth rvl", b"\0" * 40, "record it with format png"),
        ("16UC1; compressedDepth png", b"\0" * 12, "is cut off: 12 bytes"),
        ("16UC1; compressedDepth png", b"\0" * 40, "which is no depth: a PNG of 16 bits is"),
        ("rgb8; jpeg compressed bgr8", b"\xff\xd8\xff" + b"\0" * 40, "which is no depth"),
    ],
)
def test_what_is_no_depth_is_refused_in_a_line(form: str, data: bytes, words: str) -> None:
    message = CompressedImage(format=form, data=data)
    for read in (check_depth_image, depth_image_metres):
        with pytest.raises(ImageError, match=words):
            read(message)


@given(st.sampled_from(KINDS), st.integers(0, 400), st.binary(max_size=8))
def test_a_damaged_file_is_an_image_error_or_an_image(kind: tuple[str, str], at: int, noise: bytes) -> None:
    message = packed(*kind)
    data = bytes(message.data)
    message.data = data[:at] + noise + data[at + len(noise) :] if at % 2 else data[:at] + noise
    with suppress(ImageError):
        assert depth_image_metres(message).dtype == np.float32
