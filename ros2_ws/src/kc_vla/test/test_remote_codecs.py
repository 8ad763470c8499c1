"""The wires of openpi and GR00T: golden bytes, there and back, and that nothing else is taken."""

from __future__ import annotations

import hashlib
import io
import pickle
import struct
from contextlib import suppress
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kc_vla.policy.remote import codec_groot, codec_openpi, wire
from kc_vla.policy.remote.codec_groot import Modality
from kc_vla.policy.remote.wire import WireError

ARRAY = {"a": np.array([[1, 2]], np.float32)}
BOTH = pytest.mark.parametrize("codec", [codec_openpi, codec_groot], ids=["openpi", "groot"])
dtypes = st.sampled_from([np.dtype(name) for name in wire.DTYPES])
some_array = dtypes.flatmap(lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0)))
plain = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary()
values = st.recursive(
    plain | some_array,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or one != one)


def refusal(codec: Any, frame: bytes) -> str:
    """Why it is not taken; empty where it is."""
    try:
        codec.decode(frame)
    except WireError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("said", "golden"),
    [
        (
            ARRAY,
            "81a16184c40b5f5f6e6461727261795f5fc3c40464617461c4080000803f00000040c4056474797065a33c6634c4057368617065920102",
        ),
        (
            {"s": np.float32(1.5)},
            "81a17383c40d5f5f6e7067656e657269635f5fc3c40464617461cb3ff8000000000000c4056474797065a33c6634",
        ),
        ({"s": np.float64(1.5)}, "81a173cb3ff8000000000000"),
    ],
)
def test_openpi_s_golden_bytes(said: dict[str, Any], golden: str) -> None:
    assert codec_openpi.encode(said).hex() == golden
    (name,) = said
    assert np.array_equal(codec_openpi.decode(bytes.fromhex(golden))[name], said[name])


def test_groot_s_golden_bytes() -> None:
    assert codec_groot.encode({"endpoint": "ping"}).hex() == "81a8656e64706f696e74a470696e67"
    packed = codec_groot.encode(ARRAY)
    assert len(packed) == 168
    assert packed.hex().startswith("81a16182b15f5f6e6461727261795f636c6173735f5fc3a661735f6e7079c488934e554d5059")
    assert hashlib.sha256(packed).hexdigest().startswith("d11387e5936eb765")
    assert np.array_equal(codec_groot.decode(packed)["a"], ARRAY["a"])


@pytest.mark.parametrize("nested", [True, False])
def test_groot_s_modalities_go_there_and_back(nested: bool) -> None:
    said = Modality(("video.image", "video.wrist"), (-1, 0), nested)
    packed = codec_groot.encode({"video": said})
    inner = msgpack.unpackb(packed)["video"]["as_json"]
    assert isinstance(inner, dict if nested else str)
    assert codec_groot.decode(packed) == {"video": said}


@BOTH
@given(said=values)
def test_what_is_sent_comes_back(codec: Any, said: Any) -> None:
    assert same(codec.decode(codec.encode(said)), said)


@BOTH
@given(said=some_array)
def test_arrays_of_any_order_in_memory_come_back_and_cannot_be_written(codec: Any, said: np.ndarray) -> None:
    for each in (np.asfortranarray(said), said[::2] if said.ndim else said):
        (back,) = codec.decode(codec.encode([each]))
        assert same(np.ascontiguousarray(back), np.ascontiguousarray(each))
        assert not back.flags.writeable


@BOTH
@given(garbage=st.binary(max_size=200))
def test_garbage_is_refused_in_words(codec: Any, garbage: bytes) -> None:
    assert refusal(codec, garbage).isprintable()


@BOTH
@given(said=values, place=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_damaged_frame_is_refused_or_is_another_plain_value(codec: Any, said: Any, place: int, byte: int) -> None:
    frame = bytearray(codec.encode(said))
    frame[place % len(frame)] = byte
    assert refusal(codec, bytes(frame)).isprintable()


def openpi_array(dtype: object, shape: object, data: object) -> bytes:
    return msgpack.packb({"a": {b"__ndarray__": True, b"data": data, b"dtype": dtype, b"shape": shape}})


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        ("|O", [1], bytes(8)),
        ("|V8", [1], bytes(8)),
        ("<m8", [1], bytes(8)),
        ("<c8", [1], bytes(8)),
        (">f4", [1], bytes(4)),
        ("<U1", [1], bytes(4)),
        ("f4, f4", [1], bytes(8)),
        (b"<f4", [1], bytes(4)),
        (["<f4"], [1], bytes(4)),
        ("<f4", [-1], bytes(4)),
        ("<f4", [2], bytes(4)),
        ("<f4", [1], bytes(8)),
        ("<f4", [1.0], bytes(4)),
        ("<f4", [True], bytes(4)),
        ("<f4", "1", bytes(4)),
        ("<f4", [1 << 40, 0], b""),
        ("<f4", [1] * 40, bytes(4)),
        ("<f4", [1], "text"),
        ("<f4", [1], [0, 0, 0, 0]),
        ("<f4", None, bytes(4)),
    ],
)
def test_openpi_s_arrays_are_numbers_that_fit_their_shape(dtype: object, shape: object, data: object) -> None:
    with pytest.raises(WireError, match="has an array"):
        codec_openpi.decode(openpi_array(dtype, shape, data))


def npy(header: str, data: bytes) -> bytes:
    padded = header.encode().ljust(118) + b"\n"
    file = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + data
    return msgpack.packb({"a": {"__ndarray_class__": True, "as_npy": file}})


@pytest.mark.parametrize(
    ("header", "data"),
    [
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", pickle.dumps(print)),
        ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", bytes(4)),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", bytes(4)),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", bytes(4)),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", bytes(5)),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 0)}", b""),
        ("{'descr': '<f4'}", bytes(4)),
        ("__import__('os').system('true')", bytes(4)),
        ("[" * 100, bytes(4)),
    ],
)
def test_groot_s_arrays_are_numbers_that_fit_their_shape(header: str, data: bytes) -> None:
    with pytest.raises(WireError, match="has an array"):
        codec_groot.decode(npy(header, data))


def test_a_pickle_of_torch_is_told_as_such() -> None:
    written = io.BytesIO()
    written.write(b"PK\x03\x04archive/data.pkl")
    with pytest.raises(WireError, match=r"torch\.save, a pickle"):
        codec_groot.decode(written.getvalue())


@BOTH
@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (b"\xc1", "no MessagePack"),
        (b"\xdd\xff\xff\xff\xff", "no MessagePack"),
        (b"\x91" * 40 + b"\x00", "nested too deeply"),
        (b"\x91" * 2000 + b"\x00", "no MessagePack|nested"),
        (msgpack.packb([0] * 200_000), "more than 100000 values"),
        (msgpack.packb([[0]] * 60_000), "more than 100000 values"),
        (msgpack.packb(msgpack.ExtType(3, b"x")), "extension of MessagePack, number 3"),
        (msgpack.packb(msgpack.Timestamp(1)), "Timestamp"),
        (msgpack.packb({1: 2}), "no MessagePack"),
        (msgpack.packb({b"key": 2}), "keys are not all texts"),
        (msgpack.packb("a") + b"\x00", "no MessagePack"),
        (b"\xa2\xff\xfe", "no MessagePack"),
    ],
)
def test_what_is_no_plain_value_is_refused(codec: Any, frame: bytes, told: str) -> None:
    with pytest.raises(WireError, match=told):
        codec.decode(frame)


@BOTH
def test_frames_have_a_largest_size(codec: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 1000)
    codec.encode({"a": bytes(900)})
    with pytest.raises(WireError, match="the most"):
        codec.encode({"a": bytes(1001)})
    with pytest.raises(WireError, match="the most"):
        codec.decode(msgpack.packb(bytes(1001)))


@BOTH
@pytest.mark.parametrize(
    "said", [object(), {"a": np.array([object()])}, np.array(["text"]), 1 << 70, np.zeros(1, complex)]
)
def test_what_cannot_be_sent_is_told(codec: Any, said: Any) -> None:
    with pytest.raises(WireError):
        codec.encode(said)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=300)
    | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=3), inner, max_size=20),
    max_leaves=30,
)


@given(said=st.dictionaries(st.text(max_size=3), PLAIN, max_size=5), token=st.none() | st.text(max_size=300))
def test_a_text_is_found_without_unpacking_the_rest(said: dict[str, Any], token: str | None) -> None:
    frame = msgpack.packb(said | ({} if token is None else {"api_token": token}))
    assert wire.text_in(frame, "api_token") == token
    for name, value in said.items():
        assert wire.text_in(frame, name) == (value if isinstance(value, str) else None)


@given(frame=st.binary(max_size=60))
def test_any_frame_is_walked_as_msgpack_would_unpack_it(frame: bytes) -> None:
    try:
        found = msgpack.unpackb(frame, strict_map_key=False)
    except (ValueError, TypeError, msgpack.UnpackException):
        found = None
    with suppress(WireError):
        text = wire.text_in(frame, "a")
        assert text is None or not isinstance(found, dict) or found.get("a") == text
