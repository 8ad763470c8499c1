"""Bags that others wrote, with the `rosbags` and `mcap` libraries, are read as they were meant."""

import re

import pytest
from foreign_bag import BEGIN_NS, WORDS, states, write
from mcap.writer import Writer as McapWriter
from rclpy.serialization import serialize_message
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from std_msgs.msg import String

from kc_vla.bags.errors import BagForeignError
from kc_vla.bags.find import bags_below
from kc_vla.bags.reader import BagReader
from kc_vla.cli import main

MODES = [
    (StoragePlugin.SQLITE3, CompressionMode.NONE),
    (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    (StoragePlugin.MCAP, CompressionMode.NONE),
    (StoragePlugin.MCAP, CompressionMode.MESSAGE),
    (StoragePlugin.MCAP, CompressionMode.STORAGE),
]


@pytest.mark.parametrize(("storage", "mode"), MODES, ids=str)
@pytest.mark.parametrize("version", [8, 9])
def test_a_bag_of_rosbags(tmp_path, storage, mode, version):
    reader = BagReader(write(tmp_path / "bag", storage, mode, version))
    found = [(message.topic, reader.decode(message)) for message in reader.messages()]
    assert reader.damages == []
    assert found[0][1].data == WORDS
    joints = [message for topic, message in found if topic == "/joint_states"]
    assert [list(joint.position) for joint in joints] == [list(state.position) for state in states(50)]
    assert joints[7].header.stamp.sec == 7
    topics = reader.topics()
    assert {name: (topic.type, topic.count) for name, topic in topics.items()} == {
        "/words": ("std_msgs/msg/String", 1),
        "/joint_states": ("sensor_msgs/msg/JointState", 50),
    }
    assert (topics["/words"].qos.transient_local, topics["/words"].qos.depth) == (True, 7)
    refs = reader.index()["/joint_states"]
    assert [ref.log_time_ns for ref in refs] == [BEGIN_NS + k * 10**7 for k in range(50)]
    assert list(reader.decode(reader.load(refs[33])).position) == [16.5, -33.0]


@pytest.mark.parametrize("storage", [StoragePlugin.SQLITE3, StoragePlugin.MCAP])
def test_a_bag_that_is_compressed_as_a_whole_says_how_to_go_on_in_every_command(tmp_path, storage, capsys):
    bag = write(tmp_path / "bag", storage, CompressionMode.FILE)
    (packed,) = bag.glob("*.zstd")
    (tmp_path / "map.yaml").write_text("third_person/image_raw: /words\n")
    told = f"{packed} is compressed as a whole: unpack it with 'zstd -d --rm' first"
    for path in (bag, packed, tmp_path):
        with pytest.raises(BagForeignError, match=re.escape(told)):
            BagReader(bags_below(path)[0])
        assert main(["bag", "export", str(path), f"--output={tmp_path}/set", "--keyframes=none"]) == 1
        assert told in capsys.readouterr().err
        words = [str(path), f"--topics={tmp_path}/map.yaml", "--task=counting", f"--output={tmp_path}/out"]
        assert main(["bag", "import", *words]) == 1
        assert told in capsys.readouterr().err


def channel_without(folder, name, encoding):
    """An MCAP file with a latched sentence whose channel has a schema of that name and no text, or none."""
    folder.mkdir()
    with (folder / "bag_0.mcap").open("wb") as file:
        writer = McapWriter(file)
        writer.start(profile="ros2")
        schema = writer.register_schema(name, encoding, b"") if name else 0
        for topic in ("/words", "/others"):
            channel = writer.register_channel(topic, "cdr", schema)
            writer.add_message(channel, BEGIN_NS, serialize_message(String(data=WORDS)), BEGIN_NS)
        writer.finish()
    return folder


def test_a_type_that_an_mcap_file_only_names_is_taken_as_it_is_installed(tmp_path, capsys):
    bag = channel_without(tmp_path / "bag", "std_msgs/msg/String", "")
    reader = BagReader(bag)
    assert [reader.decode(message).data for message in reader.messages()] == [WORDS, WORDS]
    assert main(["bag", "check", str(bag)]) == 0
    unknown = channel_without(tmp_path / "unknown", "their_msgs/msg/Words", "")
    assert main(["bag", "check", str(unknown)]) == 1
    assert "no definition of their_msgs/msg/Words: install their_msgs, which has it" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["../../x/msg/String", "a/../b", "std_msgs/msg/String/../String", "/etc/passwd"])
def test_a_type_whose_name_is_a_path_is_not_looked_for(tmp_path, name, capsys):
    assert main(["bag", "check", str(channel_without(tmp_path / "bag", name, ""))]) == 1
    assert "no definition of" in capsys.readouterr().out


def test_a_topic_without_a_schema_is_named(tmp_path, capsys):
    bag = channel_without(tmp_path / "bag", "", "")
    assert main(["bag", "check", str(bag)]) == 1
    said = capsys.readouterr().out
    for topic in ("/words", "/others"):
        assert f"bag_0.mcap: {topic} has no schema, so nobody knows of which type its messages are" in said
    assert "install ," not in said
    (tmp_path / "map.yaml").write_text("third_person/image_raw: /words\n")
    words = [str(bag), f"--topics={tmp_path}/map.yaml", "--task=counting", f"--output={tmp_path}/out"]
    assert main(["bag", "import", *words]) == 1
    assert "/words has no schema" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["/etc/passwd", "../other/other.db3", "other/../../x", "\x00"])
def test_files_that_metadata_names_elsewhere_are_not_looked_at(tmp_path, path):
    other = write(tmp_path / "other", StoragePlugin.SQLITE3, CompressionMode.NONE, count=3)
    bag = write(tmp_path / "bag", StoragePlugin.SQLITE3, CompressionMode.NONE)
    text = (bag / "metadata.yaml").read_text().replace("bag.db3", path)
    (bag / "metadata.yaml").write_text(text)
    before = (other / "other.db3").read_bytes()
    reader = BagReader(bag)
    assert reader.files == [bag / "bag.db3"]
    assert len(list(reader.messages())) == 51
    assert (other / "other.db3").read_bytes() == before


def test_many_files_are_read_in_the_order_of_their_numbers(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    for number in range(12):
        part = write(tmp_path / str(number), StoragePlugin.MCAP, CompressionMode.NONE, count=number + 1)
        (part / f"{number}.mcap").rename(folder / f"bag_{number}.mcap")
    counts, count = [], 0
    for message in BagReader(folder).messages():
        if message.topic == "/words":
            counts.append(count)
            count = 0
        count += message.topic == "/joint_states"
    assert counts == [0, *range(1, 12)]
