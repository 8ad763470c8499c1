"""Pictures of messages become the same pixels whatever they were sent as, or are refused in a line."""

import hashlib
import io
import struct
import zlib
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from kc_vla.media.images import (
    DEPTHS,
    ENCODINGS,
    ImageError,
    check_depth,
    compressed_pixels,
    depth_metres,
    file_pixels,
    raw_pixels,
)

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def raw(encoding: str, rows: np.ndarray, width: int, height: int, padding: int = 0, big: int = 0) -> SimpleNamespace:
    """A message of rows (n, bytes), with so many bytes more at the end of each."""
    padded = np.pad(rows, ((0, 0), (0, padding)), constant_values=77)
    return SimpleNamespace(
        encoding=encoding, width=width, height=height, step=padded.shape[1], is_bigendian=big, data=padded.tobytes()
    )


def rows_of(*pixels: int, count: int = 4) -> np.ndarray:
    """So many equal rows of these bytes, twice."""
    return np.array([[*pixels, *pixels]] * count, np.uint8)


GOLDEN = {
    # each is 4x4 px; the second number is what its first pixel is
    "rgb8": (rows_of(*RED, *GREEN), RED),
    "bgr8": (rows_of(*BLUE, *GREEN), RED),
    "rgba8": (rows_of(*RED, 9, *GREEN, 9), RED),
    "bgra8": (rows_of(*BLUE, 9, *GREEN, 9), RED),
    "mono8": (rows_of(100, 200), (100, 100, 100)),
    # ITU-R BT.601, limited range: Y 81, U 90, V 240 is red
    "yuv422": (rows_of(90, 81, 240, 81), (254, 0, 0)),
    "uyvy": (rows_of(90, 81, 240, 81), (254, 0, 0)),
    "yuv422_yuy2": (rows_of(81, 90, 81, 240), (254, 0, 0)),
    "yuyv": (rows_of(81, 90, 81, 240), (254, 0, 0)),
    "nv12": (np.array([[81] * 4] * 4 + [[90, 240] * 2] * 2, np.uint8), (254, 0, 0)),
    "nv21": (np.array([[81] * 4] * 4 + [[240, 90] * 2] * 2, np.uint8), (254, 0, 0)),
    # a red wall: only the red cells see it
    "bayer_rggb8": (np.tile(np.array([[255, 0], [0, 0]], np.uint8), (2, 2)), RED),
    "bayer_bggr8": (np.tile(np.array([[0, 0], [0, 255]], np.uint8), (2, 2)), RED),
    "bayer_gbrg8": (np.tile(np.array([[0, 0], [255, 0]], np.uint8), (2, 2)), RED),
    "bayer_grbg8": (np.tile(np.array([[0, 255], [0, 0]], np.uint8), (2, 2)), RED),
}


def test_every_encoding_has_a_golden_picture() -> None:
    assert set(GOLDEN) == set(ENCODINGS)


@pytest.mark.parametrize("encoding", GOLDEN)
@pytest.mark.parametrize("padding", [0, 5])
@pytest.mark.parametrize("big", [0, 1])
def test_a_picture_is_shown_in_its_colours(encoding: str, padding: int, big: int) -> None:
    rows, first = GOLDEN[encoding]
    pixels = raw_pixels(raw(encoding, rows, 4, 4, padding, big))
    assert (pixels.shape, pixels.dtype) == ((4, 4, 3), np.uint8)
    assert tuple(pixels[0, 0].tolist()) == first
    assert tuple(pixels[2, 2].tolist()) == first


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name.startswith("bayer")])
def test_a_mosaic_shows_each_colour_where_it_is(encoding: str) -> None:
    """A scene of three smooth colours, seen through the mosaic that the name says."""
    scene = np.zeros((32, 48, 3), np.uint8)
    scene[:, :16], scene[:, 16:32], scene[:, 32:] = RED, GREEN, BLUE
    mosaic = np.zeros((32, 48), np.uint8)
    for place, letter in enumerate(encoding.removeprefix("bayer_")[:4]):
        y, x = divmod(place, 2)
        mosaic[y::2, x::2] = scene[y::2, x::2, "rgb".index(letter)]
    pixels = raw_pixels(raw(encoding, mosaic, 48, 32))
    for column in (8, 24, 40):
        np.testing.assert_array_equal(pixels[4:-4, column], scene[4:-4, column])


def test_whole_rows_in_rgb_are_not_copied() -> None:
    message = raw("rgb8", GOLDEN["rgb8"][0], 4, 4)
    assert np.shares_memory(raw_pixels(message), np.frombuffer(message.data, np.uint8))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"encoding": "16UC1"}, "is in '16UC1', which cannot be shown: rgb8, bgr8"),
        ({"data": b"\0" * 47}, "says 4x4 px in 'rgb8' with 12 bytes a row and carries 47 bytes"),
        ({"data": b"\0" * 49}, "carries 49 bytes"),
        ({"step": 11}, "with 11 bytes a row"),
        ({"width": 0}, "says 0x4 px"),
        ({"width": 2**32 - 1, "height": 2**32 - 1, "step": 2**32 - 1}, "says 4294967295x4294967295 px: between 1 and"),
        ({"encoding": "nv12", "height": 3}, "its height must be even"),
        ({"encoding": "yuyv", "width": 3, "data": b"\0" * 48}, "says 3x4 px in 'yuyv': its width must be even"),
        ({"encoding": "bayer_rggb8", "width": 2}, "that has 4 px and more"),
    ],
)
def test_what_contradicts_itself_is_refused_in_a_line(changed: dict[str, object], told: str) -> None:
    message = raw("rgb8", GOLDEN["rgb8"][0], 4, 4)
    message.__dict__.update(changed)
    with pytest.raises(ImageError) as refused:
        raw_pixels(message)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


sizes = st.integers(0, 9)


@given(st.sampled_from(ENCODINGS), sizes, sizes, st.integers(0, 40), st.binary(max_size=400))
def test_a_picture_is_either_read_or_refused(encoding: str, height: int, width: int, step: int, data: bytes) -> None:
    message = SimpleNamespace(encoding=encoding, height=height, width=width, step=step, is_bigendian=0, data=data)
    try:
        pixels = raw_pixels(message)
    except ImageError:
        return
    assert pixels.shape == (height, width, 3)


def compressed(data: bytes, form: str) -> SimpleNamespace:
    return SimpleNamespace(format=form, data=data)


def png_that_says(width: int, height: int) -> bytes:
    """A PNG whose head says a size; a few bytes of it would unpack to that."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg_that_says(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Pillow.new("RGB", (16, 16)).save(out, "JPEG")
    data = bytearray(out.getvalue())
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = struct.pack(">HH", height, width)
    return bytes(data)


@pytest.mark.parametrize(
    "bomb", [png_that_says(60000, 60000), png_that_says(16384, 16384), jpeg_that_says(65500, 40000)]
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_picture_that_says_that_it_is_huge_is_not_unpacked(bomb: bytes) -> None:
    with pytest.raises(ImageError, match=r"px: between 1 and|is too large"):
        compressed_pixels(compressed(bomb, "png"))


@given(st.binary(max_size=300))
def test_garbage_behind_a_good_beginning_is_refused(data: bytes) -> None:
    for head in (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"):
        with pytest.raises(ImageError, match=r"cut off or damaged|px: between"):
            compressed_pixels(compressed(head + data + b"\xff\xd9IEND", "jpeg"))


def test_depth_is_told_in_metres_and_what_was_not_measured_is_nan() -> None:
    told = np.array([[0, 1], [1500, 65535]], "<u2")
    metres = depth_metres(raw("16UC1", told.view(np.uint8), 2, 2, padding=2))
    np.testing.assert_allclose(metres, [[np.nan, 0.001], [1.5, 65.535]], rtol=1e-6)
    turned = depth_metres(raw("16UC1", told.astype(">u2").view(np.uint8), 2, 2, big=1))
    np.testing.assert_array_equal(turned, metres)
    floats = np.array([[0.25, np.nan], [np.inf, 2.0]], "<f4")
    np.testing.assert_array_equal(depth_metres(raw("32FC1", floats.view(np.uint8), 2, 2)), floats)


@pytest.mark.parametrize("encoding", DEPTHS)
def test_depth_with_too_few_bytes_is_refused(encoding: str) -> None:
    message = raw(encoding, np.zeros((2, 16), np.uint8), 4, 2)
    message.data = message.data[:-1]
    with pytest.raises(ImageError, match="carries 31 bytes"):
        check_depth(message)
    message.encoding = "mono8"
    with pytest.raises(ImageError, match="is in 'mono8', which is no depth: 16UC1 and 32FC1 are"):
        check_depth(message)


OF_CV_BRIDGE = {
    "rgb8": "c9515a8dabb5d80f",
    "bgr8": "c7e4f7618a6a7d2b",
    "rgba8": "778245c086c7a3c9",
    "bgra8": "dd3eb7ffa0dc32b8",
    "mono8": "408ca1d3aafaa283",
    "yuv422": "0ba08bda44ceee98",
    "bayer_rggb8": "c7225fb0a2e81e07",
    "bayer_bggr8": "de0331bcede723c3",
    "bayer_gbrg8": "b2080e13eaebacb9",
    "bayer_grbg8": "d7ea3de75e004ad5",
}
"""Begin of the SHA-256 of what `cvtColor2(picture, encoding, "rgb8")` of Debian's python3-cv-bridge 1.16.2 made of the
rows of the next test; it does not know the other encodings."""


@pytest.mark.parametrize("encoding", OF_CV_BRIDGE)
def test_the_pixels_are_those_that_cv_bridge_made(encoding: str) -> None:
    samples = GOLDEN[encoding][0].shape[1] // 4
    rows = np.random.default_rng(0).integers(0, 256, (24, 32 * samples), np.uint8)
    pixels = np.ascontiguousarray(raw_pixels(raw(encoding, rows, 32, 24)))
    assert hashlib.sha256(pixels.tobytes()).hexdigest().startswith(OF_CV_BRIDGE[encoding])


def test_the_pixels_are_those_of_cv_bridge_where_it_is_installed() -> None:
    cv_bridge = pytest.importorskip("cv_bridge")
    from sensor_msgs.msg import Image

    bridge, chance = cv_bridge.CvBridge(), np.random.default_rng(0)
    for encoding in set(ENCODINGS) - {"nv12", "nv21"}:  # it does not know the first, and only lately the second
        samples = GOLDEN[encoding][0].shape[1] // 4
        rows = chance.integers(0, 256, (24, 32 * samples), np.uint8)
        message = Image(height=24, width=32, step=32 * samples, encoding=encoding, data=rows.tobytes())
        np.testing.assert_array_equal(raw_pixels(message), bridge.imgmsg_to_cv2(message, "rgb8"), err_msg=encoding)


def test_a_jpeg_is_decoded_as_opencv_does() -> None:
    scene = np.random.default_rng(1).integers(0, 256, (24, 32, 3), np.uint8)
    done, data = cv2.imencode(".jpg", scene)
    assert done
    expected = cv2.cvtColor(cv2.imdecode(data, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    np.testing.assert_array_equal(compressed_pixels(compressed(data.tobytes(), "rgb8; jpeg compressed bgr8")), expected)


def jpeg_bytes(**options: object) -> bytes:
    """A JPEG with a small one of its own in its head, as telephones write them."""
    scene = np.kron(np.random.default_rng(2).integers(0, 256, (6, 8, 3), np.uint8), np.ones((8, 8, 1), np.uint8))
    small, out = io.BytesIO(), io.BytesIO()
    Pillow.fromarray(scene[::4, ::4]).save(small, "JPEG")
    comment = b"Exif\0\0" + small.getvalue()
    Pillow.fromarray(scene).save(out, "JPEG", exif=comment, **options)
    return out.getvalue()


JPEGS = {
    "baseline": jpeg_bytes(),
    "progressive": jpeg_bytes(progressive=True),
    "with restarts": jpeg_bytes(restart_marker_blocks=2),
    "of noise": cv2.imencode(".jpg", np.random.default_rng(3).integers(0, 256, (48, 64, 3), np.uint8))[1].tobytes(),
}
PNG = cv2.imencode(".png", np.random.default_rng(3).integers(0, 256, (12, 16, 3), np.uint8))[1].tobytes()
WHOLE = {**JPEGS, "png": PNG}


@pytest.mark.parametrize("kind", WHOLE)
@given(behind=st.one_of(st.binary(max_size=200), st.integers(0, 4000).map(bytes), st.just(b"\xff" * 700)))
def test_what_lies_behind_a_whole_picture_changes_nothing(kind: str, behind: bytes) -> None:
    expected = compressed_pixels(compressed(WHOLE[kind], "jpeg"))
    np.testing.assert_array_equal(compressed_pixels(compressed(WHOLE[kind] + behind, "jpeg")), expected)
    np.testing.assert_array_equal(file_pixels(WHOLE[kind] + behind), expected)


@pytest.mark.parametrize("kind", WHOLE)
@given(share=st.floats(0.0, 1.0), behind=st.integers(0, 2000))
def test_a_picture_that_ends_early_is_refused_also_in_a_buffer_of_zeros(kind: str, share: float, behind: int) -> None:
    data = WHOLE[kind]
    end = 8 + round(share * (len(data) - (18 if kind == "png" else 2) - 8))
    with pytest.raises(ImageError, match=r"cut off or damaged|px: between"):
        compressed_pixels(compressed(data[:end] + bytes(behind), "jpeg"))


@pytest.mark.parametrize("said", ["16UC1; png compressed", "mono16; png compressed", "png", ""])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_png_of_16_bits_of_gray_is_no_picture(said: str, channels: int) -> None:
    depth = np.arange(64, dtype=np.uint16).reshape(8, 8) * 48
    data = cv2.imencode(".png", depth)[1].tobytes()
    if channels == 2:
        head = data[12:25] + b"\x04" + data[26:29]  # which says that there is alpha, too
        data = data[:12] + head + struct.pack(">I", zlib.crc32(head)) + data[33:]
    for look in (lambda: compressed_pixels(compressed(data, said)), lambda: file_pixels(data)):
        with pytest.raises(ImageError, match="16 bits of gray, as depth is"):
            look()


def test_a_png_of_16_bits_of_colour_is_its_upper_8() -> None:
    colours = np.random.default_rng(4).integers(0, 65536, (8, 8, 3), np.uint16)
    data = cv2.imencode(".png", colours)[1].tobytes()
    np.testing.assert_allclose(compressed_pixels(compressed(data, "png")), (colours >> 8)[:, :, ::-1], atol=1)
