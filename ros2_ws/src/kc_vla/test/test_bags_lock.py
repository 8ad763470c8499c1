"""A bag that is being recorded is left alone by everybody else, and free again when its recorder has ended or died."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from episode_bag import TOPICS, Script, info, messages, write_episode
from rclpy.serialization import serialize_message

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.bags.errors import BagBusyError
from kc_vla.bags.lock import BagLock, is_being_written
from kc_vla.bags.reader import BagReader
from kc_vla.bags.recorder import EpisodeRecorder, RecorderState
from kc_vla.bags.storage import Storage
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.cli import main
from kc_vla.datasets.exchange.rows import read_rows
from kc_vla.replay.plan import main as plan
from kc_vla.reports.report import write_report

SCRIPT = Script(size=8, steps=30)
WORDS = [(topic, serialize_message(message), time_ns) for topic, message, time_ns in messages(SCRIPT)]


@pytest.fixture(params=list(Storage))
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EpisodeBagWriter]:
    """Half of an episode has been recorded, and is on the disk."""
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(SCRIPT), storage=request.param, flush_period_s=0.0)
    say(writer, WORDS[: len(WORDS) // 2])
    while sum(1 for _ in BagReader(tmp_path / "bag").messages()) < len(WORDS) // 2:
        pass
    yield writer
    writer.close()


def say(writer: EpisodeBagWriter, words: list[tuple[str, bytes, int]]) -> None:
    for topic, data, time_ns in words:
        assert writer.write(topic, data, time_ns, time_ns)


def files(bag: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in bag.iterdir()}


@pytest.mark.parametrize(
    "verb",
    [
        lambda bag: main(["bag", "repair", str(bag)]),
        lambda bag: main(["bag", "repair", *map(str, BagReader(bag).files)]),
        lambda bag: main(["report", "--summary-only", str(bag)]),
        lambda bag: plan([str(bag), "--output", str(bag.parent / "runs")]),
    ],
    ids=["repair", "repair a file", "report", "replay"],
)
def test_what_writes_or_needs_all_of_it_is_refused_in_a_line(
    writer: EpisodeBagWriter, verb: Callable[[Path], int], capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(writer.folder)
    assert verb(writer.folder) == 1
    said = capsys.readouterr().err
    assert "is being recorded" in said
    assert said.count("\n") == 1
    assert files(writer.folder) == before
    assert not list(writer.folder.parent.glob("*.json"))
    say(writer, WORDS[len(WORDS) // 2 :])
    writer.close()
    reader = BagReader(writer.folder)
    assert len(list(reader.messages())) == len(WORDS)
    assert reader.damages == []
    assert verb(writer.folder) == 0


def test_so_are_annotation_and_export(writer: EpisodeBagWriter) -> None:
    for use in (AnnotatedEpisode, read_rows, lambda bag: write_report(bag, bag)):
        with pytest.raises(BagBusyError, match="is being recorded: wait"):
            use(writer.folder)


@pytest.mark.parametrize("words", [["info"], ["check"], ["cut", "part"], ["merge", "part"]])
def test_what_only_reads_says_so(
    writer: EpisodeBagWriter, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag, part = str(writer.folder), str(tmp_path / "part")
    main(["bag", *{"cut": ["cut", bag, part], "merge": ["merge", part, bag]}.get(words[0], [words[0], bag])])
    assert "is being recorded" in capsys.readouterr().out
    writer.close()
    if words[0] in ("info", "check"):
        main(["bag", *words, bag])
        assert "is being recorded" not in capsys.readouterr().out


def test_a_second_recorder_of_the_same_episode_leaves_it_to_the_first(tmp_path: Path) -> None:
    first, second = (EpisodeRecorder(tmp_path, TOPICS, "0.1.0") for _ in range(2))
    assert first.begin("e-1", "counting", 3, "do it", 7).state == RecorderState.RECORDING
    for topic, data, time_ns in WORDS[:50]:
        first.add(topic, data, time_ns, time_ns)
    refused = second.begin("e-1", "counting", 3, "do it", 7)
    assert refused.state == RecorderState.ELSEWHERE
    assert "is being recorded" in refused.error
    assert second.adopt("e-1") is None
    for topic, data, time_ns in WORDS[50:]:
        first.add(topic, data, time_ns, time_ns)
        second.add(topic, data, time_ns, time_ns)
    assert second.close() == []
    (closed,) = first.close()
    reader = BagReader(tmp_path / "e-1" / "bag")
    assert closed.messages == len(WORDS) == len(list(reader.messages()))
    assert reader.damages == []
    assert [path.name for path in reader.files] == ["bag_0.mcap"]


def test_a_dead_recorder_holds_nothing(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from episode_bag import TOPICS
from kc_vla.bags.writer import EpisodeBagWriter
writer = EpisodeBagWriter(Path({str(tmp_path / "bag")!r}), TOPICS, None, flush_period_s=0.0)
writer.write("/joint_states", bytes(40), 1, 1)
while not writer.stats.written["/joint_states"]:
    time.sleep(0.01)
print("written", flush=True)
time.sleep(600)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    assert child.stdout.readline() == "written\n"
    assert is_being_written(tmp_path / "bag")
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not is_being_written(tmp_path / "bag")
    assert main(["bag", "repair", str(tmp_path / "bag")]) == 0


def test_a_writer_that_could_not_begin_holds_nothing(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", SCRIPT)
    with pytest.raises(Exception, match="holds a bag already"):
        EpisodeBagWriter(bag, TOPICS, None)
    with BagLock(bag), pytest.raises(BagBusyError):
        BagLock(bag)
    assert not is_being_written(bag)
