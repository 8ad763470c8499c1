"""A part of a bag is a bag, several bags are one bag, and neither touches what was there."""

from pathlib import Path

import pytest
from episode_bag import TOPICS, Script, info, write_episode
from hypothesis import given
from hypothesis import strategies as st
from mcap.writer import Writer
from nightly import tried
from rosbags.highlevel import AnyReader

from kc_vla.bags.cut_and_merge import cut, merge
from kc_vla.bags.errors import BagEmptyError, BagReadError, BagWriteError
from kc_vla.bags.reader import BagReader
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import Qos, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.cli import main

SCRIPT = Script(size=8, steps=60)


@pytest.fixture(scope="module", params=list(Storage))
def bag(request, tmp_path_factory) -> Path:
    return write_episode(tmp_path_factory.mktemp("episode") / "bag", SCRIPT, request.param)


def contents(path: Path) -> list[tuple[str, int, bytes]]:
    return [(message.topic, message.ref.log_time_ns, message.data) for message in BagReader(path).messages()]


def test_a_cut_holds_that_time_and_what_was_latched_before(bag, tmp_path):
    whole = contents(bag)
    begin, end = whole[0][1] + 10**9, whole[0][1] + 2 * 10**9
    copied = cut(bag, tmp_path / "part", 1.0, 2.0)
    found = contents(tmp_path / "part")
    assert copied.messages == len(found)
    status, *rest = found
    assert status == ("/episode/status", begin, whole[0][2])  # a node that listens now is told of the episode first
    assert rest == [entry for entry in whole if begin <= entry[1] <= end]
    reader = BagReader(tmp_path / "part")
    assert reader.damages == []
    topics = reader.topics()
    assert reader.episode == info(SCRIPT)
    assert reader.files[0].suffix == BagReader(bag).files[0].suffix
    assert {name: (own.type, own.qos) for name, own in topics.items()} == {
        name: (own.type, own.qos) for name, own in TOPICS.items()
    }
    steps = [reader.decode(message).step for message in reader.messages(["/arm/command"])]
    assert steps == list(range(20, 40))
    with AnyReader([tmp_path / "part"]) as stock:
        assert sum(1 for _ in stock.messages()) == len(found)
    assert [path.name for path in tmp_path.iterdir()] == ["part"]


def test_topics_and_storage_can_be_chosen(bag, tmp_path, capsys):
    words = ["cut", str(bag), str(tmp_path / "part"), "--topics", "arm/command", "/wrist/image_raw"]
    assert main(["bag", *words, "--storage", "sqlite3"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'part'}: 122 messages\n"
    assert contents(tmp_path / "part") == [
        entry for entry in contents(bag) if entry[0] in ("/arm/command", "/wrist/image_raw")
    ]
    assert (tmp_path / "part" / "part_0.db3").is_file()


def test_an_existing_output_is_left_alone(bag, tmp_path, capsys):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "mine").write_text("keep")
    for words in (["cut", str(bag), str(tmp_path / "part")], ["merge", str(tmp_path / "part"), str(bag)]):
        assert main(["bag", *words]) == 1
        told = capsys.readouterr().err
        assert "exists already: choose another output" in told
        assert told.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["part", "mine"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5.0, 6.0), "has no message from 5 s to 6 s: it lasts 3.1 s"),
        ((2.0, 1.0), "cannot cut from 2 s to 1 s"),
        ((-1.0, 1.0), "cannot cut from -1 s to 1 s"),
        ((float("nan"), 1.0), "cannot cut from nan s"),
        ((0.0, 1.0, ["/dreams"]), "has no /dreams: it has /arm/command"),
    ],
)
def test_what_cannot_be_cut_leaves_nothing(bag, tmp_path, arguments, words):
    with pytest.raises(BagReadError, match=words):
        cut(bag, tmp_path / "part", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_torn_bag_is_cut_as_far_as_it_goes(bag, tmp_path):
    torn = tmp_path / BagReader(bag).files[0].name
    whole = BagReader(bag).files[0].read_bytes()
    torn.write_bytes(whole[: len(whole) * 8 // 10])
    copied = cut(torn, tmp_path / "part")
    assert len(copied.damages) == 1
    assert contents(tmp_path / "part") == contents(torn)
    assert BagReader(tmp_path / "part").contents().messages == copied.messages


def test_cuts_merge_into_the_whole_again(bag, tmp_path):
    cut(bag, tmp_path / "late", 1.000000001, storage=Storage.MCAP)
    cut(bag, tmp_path / "early", 0.0, 1.0, storage=Storage.SQLITE3)
    merge(tmp_path / "both", [tmp_path / "late", tmp_path / "early"])
    found, whole = contents(tmp_path / "both"), contents(bag)
    assert [entry for entry in found if entry not in whole] == [
        ("/episode/status", whole[0][1] + 10**9 + 1, whole[0][2])
    ]
    assert [entry for entry in found if entry in whole] == whole
    reader = BagReader(tmp_path / "both")
    assert reader.contents().messages == len(found)
    assert reader.episode == info(SCRIPT)


def test_bags_that_disagree_are_not_merged(bag, tmp_path):
    writer = EpisodeBagWriter(tmp_path / "other", {"/arm/command": TopicInfo("std_msgs/msg/String", Qos())}, None)
    writer.write("/arm/command", b"\0\1\0\0\1\0\0\0\0", 1, 1)
    writer.close()
    with pytest.raises(BagReadError, match=r"/arm/command is std_msgs/msg/String in .*other and kc_vla_msgs"):
        merge(tmp_path / "both", [bag, tmp_path / "other"])
    assert not (tmp_path / "both").exists()


def test_bags_whose_clocks_lie_apart_are_merged_and_this_is_said(bag, tmp_path, capsys):
    writer = EpisodeBagWriter(tmp_path / "older", {"/said": TopicInfo("std_msgs/msg/String", Qos())}, None)
    writer.write("/said", b"\0\1\0\0\1\0\0\0\0", 1, 1)
    writer.close()
    assert main(["bag", "merge", str(tmp_path / "both"), str(bag), str(tmp_path / "older")]) == 0
    note, _ = capsys.readouterr().out.splitlines()
    assert note.startswith(f"{bag} begins 20717 days, ")
    assert "were their clocks the same?" in note
    cut(bag, tmp_path / "a", 0.0, 1.0)
    cut(bag, tmp_path / "b", 2.0)
    assert merge(tmp_path / "cuts", [tmp_path / "b", tmp_path / "a"]).notes == ()


def test_an_output_that_cannot_be_written_is_told_in_a_line(bag, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BagWriteError, match="cannot write"):
        cut(bag, tmp_path / "file" / "part")


@tried(10, 125)
@given(
    parts=st.lists(st.lists(st.integers(0, 40), max_size=12).map(sorted), min_size=1, max_size=4),
    storages=st.lists(st.sampled_from(Storage), min_size=4, max_size=4),
)
def test_a_merge_is_in_order_of_time_and_loses_nothing(parts, storages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for number, times in enumerate(parts):
        topics = {"/a": TopicInfo("std_msgs/msg/Bool", Qos())}
        writer = EpisodeBagWriter(folder / str(number), topics, None, storage=storages[number])
        for time in times:
            writer.write("/a", bytes([0, 1, 0, 0, number]), time, time)
        writer.close()
    bags = [folder / str(number) for number in range(len(parts))]
    if not any(parts):
        with pytest.raises(BagEmptyError):
            merge(folder / "all", bags)
        return
    merge(folder / "all", bags)
    found = [(time, data[4]) for _, time, data in contents(folder / "all")]
    assert [time for time, _ in found] == sorted(time for times in parts for time in times)
    assert sorted(found) == sorted((time, number) for number, times in enumerate(parts) for time in times)


def test_bags_of_a_thousand_topics_are_merged(tmp_path):
    for name in ("one.mcap", "two.mcap"):
        with (tmp_path / name).open("wb") as stream:
            writer = Writer(stream)
            writer.start(profile="ros2", library="test")
            schema = writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data")
            for k in range(500):
                channel = writer.register_channel(f"/{name.partition('.')[0]}/{k}", "cdr", schema)
                writer.add_message(channel, 1, b"\0\1\0\0\1", 1)
            writer.finish()
    assert merge(tmp_path / "both", [tmp_path / "one.mcap", tmp_path / "two.mcap"]).messages == 1000
    assert len(BagReader(tmp_path / "both").topics()) == 1000


def test_a_message_that_is_too_large_to_be_copied_is_named(bag, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("kc_vla.bags.cut_and_merge.MOST_MESSAGE_BYTES", 100)
    for words in (["merge", str(tmp_path / "new"), str(bag), str(bag)], ["cut", str(bag), str(tmp_path / "new")]):
        assert main(["bag", *words]) == 1
        assert "a message on /" in (told := capsys.readouterr().err)
        assert "leave it out with 'kc-vla bag cut --topics'" in told
    assert not (tmp_path / "new").exists()
