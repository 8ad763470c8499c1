"""Bags that others wrote, with the `rosbags` and `mcap` libraries, are read as they were meant."""

import pytest
from foreign_bag import BEGIN_NS, WORDS, states, write
from rosbags.rosbag2 import CompressionMode, StoragePlugin

from kc_vla.bags.errors import BagForeignError
from kc_vla.bags.reader import BagReader

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


def test_a_bag_that_is_compressed_as_a_whole_says_how_to_go_on(tmp_path):
    bag = write(tmp_path / "bag", StoragePlugin.SQLITE3, CompressionMode.FILE)
    with pytest.raises(BagForeignError, match="compressed as a whole: unpack it with 'zstd -d --rm' first"):
        BagReader(bag)


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
