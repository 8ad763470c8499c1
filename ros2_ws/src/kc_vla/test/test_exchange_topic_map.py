import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.topic_map import OURS, parse_topic_map, read_topic_map, views_of

TOPICS = st.from_regex(r"\A(/[a-z][a-z0-9_]{0,8}){1,3}\Z")


@given(st.data())
def test_what_was_written_is_read(data: st.DataObject) -> None:
    others = data.draw(st.sets(st.sampled_from(["wrist/image_raw", "side_2/image_raw", *OURS])))
    names = ["third_person/image_raw", *sorted(others)]
    theirs = data.draw(st.lists(TOPICS, min_size=len(names), max_size=len(names), unique=True))
    wanted = dict(zip(names, theirs, strict=True))
    assert parse_topic_map(yaml.safe_dump(wanted), "map.yaml") == wanted


@given(st.text(max_size=120) | st.text("third_person/image_raw: /abc\n-[]{}'\"&*!", max_size=120))
def test_any_text_is_a_map_or_told(text: str) -> None:
    try:
        found, told = parse_topic_map(text, "map.yaml"), ""
    except ExchangeError as error:
        found, told = {}, str(error)
    assert told.startswith("map.yaml") if told else views_of(found)
    assert all(topic in OURS or views_of([topic]) for topic in found)


def test_the_first_view_of_a_map_counts_the_frames_unless_there_is_the_usual_one() -> None:
    told = {"joint_states": "/j", "side/image_raw": "/a", "wrist/image_raw": "/b"}
    assert views_of(parse_topic_map(yaml.safe_dump(told, sort_keys=False), "map.yaml")) == ("side", "wrist")
    told["third_person/image_raw"] = "/c"
    found = parse_topic_map(yaml.safe_dump(told, sort_keys=False), "map.yaml")
    assert views_of(found) == ("third_person", "side", "wrist")
    assert found == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("joint_states: /j\n", "third_person/image_raw, or that of another view, is missing: without it there are"),
        ("third_person/image_raw: /a\nwrist: /b\n", "'wrist' is none of our topics: <view>/image_raw, joint_states"),
        ("third_person/image_raw: /a\njoints/image_raw: /b\n", "'joints/image_raw' is none of our topics"),
        ("third_person/image_raw: camera\n", "needs the full name of a topic, as /camera/image_raw, not 'camera'"),
        ("third_person/image_raw: [/a]\n", "needs the full name of a topic"),
        ("third_person/image_raw: /a\nwrist/image_raw: /a\n", "/a stands for two of our topics"),
        ("- /a\n", "a line 'ours: theirs' for each topic is wanted"),
        ("a: [\n", "map.yaml is no YAML at line 2: "),
        ("a: !!python/object:os.system {}\n", "map.yaml is no YAML at line 1: "),
    ],
)
def test_what_is_wrong_is_told(text: str, told: str) -> None:
    with pytest.raises(ExchangeError, match=told):
        parse_topic_map(text, "map.yaml")


def test_a_missing_file_is_told(tmp_path) -> None:
    with pytest.raises(ExchangeError, match=r"map\.yaml cannot be read"):
        read_topic_map(tmp_path / "map.yaml")
