import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml
from episode_bag import TOPICS, Script, info, messages, write_episode
from mcap.reader import make_reader
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader

from kc_vla.bags.errors import BagWriteError
from kc_vla.bags.reader import BagReader
from kc_vla.bags.topics import TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla_msgs.msg import EpisodeStatus

CHILD = """
import sys, time
from pathlib import Path
from episode_bag import TOPICS, Script, info
from kc_vla.bags.errors import BagWriteError
from kc_vla.bags.writer import EpisodeBagWriter
"""


def start_child(code: str) -> subprocess.Popen[str]:
    path = os.pathsep.join(sys.path)
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_episode(tmp_path_factory.mktemp("episode") / "bag")


def test_rosbags_reads_every_message_and_its_fields(bag: Path) -> None:
    expected = list(messages(Script()))
    with AnyReader([bag]) as reader:
        found = [(c.topic, reader.deserialize(data, c.msgtype)) for c, _, data in reader.messages()]
        types = {c.topic: c.msgtype for c in reader.connections}
    assert types == {topic: info.type for topic, info in TOPICS.items()}
    assert [topic for topic, _ in found] == [topic for topic, _, _ in expected]
    scores = [m.score for topic, m in found if topic == "/keyframes/score"]
    assert scores == pytest.approx([m.score for topic, m, _ in expected if topic == "/keyframes/score"])
    picture = next(m for topic, m in found if topic == "/wrist/image_raw")
    assert bytes(picture.data) == bytes(next(m for topic, m, _ in expected if topic == "/wrist/image_raw").data)


def test_the_mcap_library_finds_an_intact_file(bag: Path) -> None:
    with (bag / "bag_0.mcap").open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics.message_count == sum(1 for _ in reader.iter_messages())
        assert {schema.encoding for schema in summary.schemas.values()} == {"ros2msg"}
        assert all(chunk.compression == "zstd" for chunk in summary.chunk_indexes)
        names = {record.name: record.metadata for record in reader.iter_metadata()}
    assert names["kc_vla"]["episode_id"] == Script().episode_id
    assert names["kc_vla"]["seed"] == "3"


def test_metadata_yaml_is_what_rosbag2_of_jazzy_writes(bag: Path) -> None:
    content = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert content["version"] == 9
    assert content["storage_identifier"] == "mcap"
    assert content["relative_file_paths"] == ["bag_0.mcap"]
    assert content["message_count"] == len(list(messages(Script())))
    status = next(
        t["topic_metadata"]
        for t in content["topics_with_message_count"]
        if t["topic_metadata"]["name"] == "/episode/status"
    )
    assert status["offered_qos_profiles"][0]["durability"] == "transient_local"
    assert status["offered_qos_profiles"][0]["reliability"] == "reliable"
    assert status["type_description_hash"].startswith("RIHS01_")


def test_a_folder_with_a_bag_is_left_alone(bag: Path) -> None:
    before = (bag / "bag_0.mcap").read_bytes()
    with pytest.raises(BagWriteError, match="holds a bag already"):
        EpisodeBagWriter(bag, TOPICS, info(Script()))
    assert (bag / "bag_0.mcap").read_bytes() == before


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BagWriteError, match="cannot write the bag") as caught:
        EpisodeBagWriter(tmp_path / "file" / "bag", TOPICS, info(Script()))
    assert "\n" not in str(caught.value)


def test_an_unknown_type_names_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(BagWriteError, match="install nowhere_msgs"):
        EpisodeBagWriter(tmp_path / "bag", {"/a": TopicInfo("nowhere_msgs/msg/Nothing")}, info(Script()))


def test_an_undeclared_topic_and_a_closed_bag_are_refused(tmp_path: Path) -> None:
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(Script()))
    with pytest.raises(KeyError, match="/nowhere"):
        writer.write("/nowhere", b"", 0, 0)
    writer.close()
    writer.close()
    with pytest.raises(BagWriteError, match="closed"):
        writer.write("/episode/status", b"", 0, 0)


def test_an_empty_bag_opens(tmp_path: Path) -> None:
    EpisodeBagWriter(tmp_path / "bag", TOPICS, info(Script())).close()
    with AnyReader([tmp_path / "bag"]) as reader:
        assert list(reader.messages()) == []


def test_images_give_way_to_events_when_the_disk_is_slow(tmp_path: Path) -> None:
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(Script()), queue_bytes=100_000)
    event = serialize_message(EpisodeStatus(episode_id="a"))
    writer._wake.acquire()  # the writing thread stands still, as with a stalled disk
    try:
        taken = [writer.write("/wrist/image_raw", bytes(30_000), 0, i) for i in range(5)]
        events = [writer.write("/episode/status", event, 0, i) for i in range(20)]
    finally:
        writer._wake.release()
    stats = writer.close()
    assert taken == [True, True, False, False, False]
    assert all(events)
    assert stats.dropped["/wrist/image_raw"] == 3
    assert stats.written["/episode/status"] == 20


def test_a_message_larger_than_the_queue_goes_alone(tmp_path: Path) -> None:
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(Script()), queue_bytes=100_000)
    assert writer.write("/wrist/image_raw", bytes(300_000), 0, 0)
    stats = writer.close()
    assert (stats.written["/wrist/image_raw"], stats.dropped["/wrist/image_raw"]) == (1, 0)


def test_a_killed_process_loses_only_what_is_younger_than_a_flush(tmp_path: Path) -> None:
    child = start_child(f"""
        writer = EpisodeBagWriter(Path({str(tmp_path)!r}) / "bag", TOPICS, info(Script()), flush_period_s=0.2)
        for i in range(300):
            writer.write("/joint_states", bytes(40), i, i)
        time.sleep(3.0)
        for i in range(300, 310):
            writer.write("/joint_states", bytes(40), i, i)
        print("written", flush=True)
        time.sleep(60)
    """)
    assert child.stdout is not None
    assert child.stdout.readline() == "written\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    reader = BagReader(tmp_path / "bag")
    times = [message.ref.log_time_ns for message in reader.messages()]
    assert times[:300] == list(range(300))
    assert len(reader.damages) == 1
    assert "was never closed" in reader.damages[0]


def test_a_full_disk_is_one_error_and_what_was_written_stays_readable(tmp_path: Path) -> None:
    child = start_child(f"""
        import os, resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        writer = EpisodeBagWriter(Path({str(tmp_path)!r}) / "bag", TOPICS, info(Script()), flush_period_s=0.0)
        try:
            for i in range(100_000):
                writer.write("/wrist/image_raw", os.urandom(20_000), i, i)
                time.sleep(0.002)
        except BagWriteError as error:
            print(error)
        try:
            writer.close()
        except BagWriteError as error:
            print(error)
    """)
    out, _ = child.communicate(timeout=120)
    lines = out.splitlines()
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert "File too large" in lines[0]
    assert "stays readable" in lines[0]
    reader = BagReader(tmp_path / "bag")
    times = [message.ref.log_time_ns for message in reader.messages()]
    assert times == list(range(len(times)))
    assert len(times) > 5
    assert "was never closed" in reader.damages[0]  # the file ends after a whole record


def test_resuming_mends_what_was_there_and_adds_a_file(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / "bag")
    whole = (folder / "bag_0.mcap").read_bytes()
    (folder / "bag_0.mcap").write_bytes(whole[: len(whole) // 2])
    (folder / "metadata.yaml").unlink()
    kept = sum(1 for _ in BagReader(folder).messages())
    writer = EpisodeBagWriter(folder, TOPICS, info(Script()), resume=True)
    last = 2_000_000_000_000_000_000
    writer.write("/episode/status", serialize_message(EpisodeStatus(episode_id="late")), last, last)
    writer.close()
    reader = BagReader(folder)
    assert sum(1 for _ in reader.messages()) == kept + 1
    assert reader.damages == []
    with AnyReader([folder]) as stock:
        assert stock.message_count == kept + 1
        assert sum(1 for _ in stock.messages()) == kept + 1


def test_resuming_clears_a_file_without_any_message(tmp_path: Path) -> None:
    folder = tmp_path / "bag"
    folder.mkdir()
    (folder / "bag_0.mcap").write_bytes(b"")
    EpisodeBagWriter(folder, TOPICS, info(Script()), resume=True).close()
    assert [path.name for path in sorted(folder.iterdir())] == ["bag_0.mcap", "metadata.yaml"]
    with AnyReader([folder]) as stock:
        assert stock.message_count == 0
