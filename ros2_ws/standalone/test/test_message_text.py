"""Messages from YAML and to YAML."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from kc_vla_standalone.errors import UsageError
from kc_vla_standalone.ros.interfaces import interface_class, message_from_yaml
from kc_vla_standalone.ros.message_text import TextOptions, field_of, message_csv, message_yaml
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import ByteMultiArray, Float64, Int16MultiArray, String
from visualization_msgs.msg import Marker

# The YAML library does not escape the control character U+0085 in text that is otherwise plain.
PRINTABLE = st.characters(blacklist_categories=("Cs",), blacklist_characters="\x85")


@given(st.text(PRINTABLE))
def test_any_text_comes_through(text: str) -> None:
    assert yaml.safe_load(message_yaml(String(data=text))) == {"data": text}


@given(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=200))
def test_arrays_come_through(values: list[int]) -> None:
    message = message_from_yaml(Int16MultiArray, yaml.safe_dump({"data": values}))
    assert list(message.data) == values
    assert yaml.safe_load(message_yaml(message))["data"] == values


@given(st.text(PRINTABLE, max_size=300), st.integers(1, 200))
def test_truncation(text: str, limit: int) -> None:
    shown = yaml.safe_load(message_yaml(String(data=text), TextOptions(truncate_length=limit)))["data"]
    assert shown == (text if len(text) <= limit else text[:limit] + "...")


def test_nested_messages_sequences_and_fixed_arrays() -> None:
    text = "{header: {frame_id: cam}, ns: a, points: [{x: 1, y: 2, z: 3}, {z: 1.5}], color: {a: 1}}"
    marker = message_from_yaml(Marker, text)
    assert (marker.header.frame_id, marker.points[1].z, marker.color.a) == ("cam", 1.5, 1.0)
    shown = yaml.safe_load(message_yaml(marker))
    assert shown["points"] == [{"x": 1.0, "y": 2.0, "z": 3.0}, {"x": 0.0, "y": 0.0, "z": 1.5}]
    assert list(shown) == list(Marker.get_fields_and_field_types())
    info = message_from_yaml(CameraInfo, f"{{k: {[1.0] * 9}, d: [0.5]}}")
    assert yaml.safe_load(message_yaml(info))["k"] == [1.0] * 9


def test_bytes() -> None:
    message = message_from_yaml(ByteMultiArray, "{data: [1, 255]}")
    assert message.data == [b"\x01", b"\xff"]
    assert yaml.safe_load(message_yaml(message))["data"] == [1, 255]


def test_yaml_numbers_fit_the_field() -> None:
    assert message_from_yaml(Float64, "{data: 3}").data == 3.0
    assert message_from_yaml(String, "{data: 3}").data == "3"


def test_fields_by_expression() -> None:
    state = JointState(name=["a", "b"], position=[1.0, 2.0])
    assert field_of(state, "name[1]") == "b"
    assert field_of(state, "header.stamp.sec") == 0
    for expression in ("nothing", "name[9]", "header.nothing.sec", "name[x]"):
        with pytest.raises(UsageError, match="the message has no field"):
            field_of(state, expression)


def test_csv() -> None:
    assert message_csv(JointState(name=["a"], position=[1.5])) == "0,0,,a,1.5"


def test_lengths_instead_of_content() -> None:
    text = message_yaml(Image(data=b"123", encoding="rgb8"), TextOptions(no_arrays=True, no_strings=True))
    assert "length: 3" in text
    assert "rgb8" not in text


@pytest.mark.parametrize(
    ("message_class", "text", "message"),
    [
        (String, "{data: [1]}", None),
        (Float64, "{data: x}", "field 'data' is a double, which 'x' is not"),
        (Int16MultiArray, "{data: [70000]}", "field 'data'"),
        (Int16MultiArray, "{data: 3}", "field 'data'.*a list is wanted"),
        (Marker, "{color: 3}", "field 'color'.*a dictionary is wanted"),
        (Marker, "{points: [{w: 1}]}", r"no field 'points\[0\].w'"),
        (CameraInfo, "{k: [1, 2]}", "field 'k'"),
    ],
)
def test_wrong_values_name_the_field(message_class: type, text: str, message: str | None) -> None:
    if message is None:
        assert message_from_yaml(message_class, text).data == "[1]"
        return
    with pytest.raises(UsageError, match=message):
        message_from_yaml(message_class, text)


@pytest.mark.parametrize("name", ["String", "std_msgs/srv/String", "a/b/c/d", "std_msgs//String", "std_msgs/msg/"])
def test_type_names(name: str) -> None:
    with pytest.raises(UsageError, match="no type name"):
        interface_class(name, "msg")


def test_short_type_name() -> None:
    assert interface_class("std_msgs/String", "msg") is String
