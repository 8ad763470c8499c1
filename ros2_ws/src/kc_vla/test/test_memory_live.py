"""The two memories as they are in use, without ROS."""

from __future__ import annotations

import sqlite3
import threading
from functools import cache
from pathlib import Path

import pytest

from kc_vla.core.errors import StackError
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.intake import Taken
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.live_units import LiveUnits, RecallOutcome
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError, StoreError
from kc_vla.memory.long_term.nodes import Floor
from kc_vla.memory.long_term.query import Query
from kc_vla.memory.long_term.reachable import from_points
from kc_vla.memory.long_term.spreading import spread
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.robot.short_term import ShortTermPart
from kc_vla.memory.short_term.memory import ShortTermMemory, UnitEvent
from kc_vla.memory.things import ObservedThing

S = 10**9
WALL_NS = 1_800_000_000 * S


def detected(*names: str) -> list[Detection]:
    return [Detection(name, (float(at), 0.0, 0.0), (0.1, 0.1, 0.1), source_id=name) for at, name in enumerate(names)]


EMBEDDER = cache(open_embedder)


def live(capacity: int = 5) -> LiveUnits:
    return LiveUnits(ShortTermMemory(capacity), EMBEDDER())


def ids(memory: LiveUnits) -> set[str]:
    return {each.unit.object_id for each in memory.held()}


def test_what_a_simulator_detects_and_what_a_planner_reports_are_one_history_by_the_time_of_day() -> None:
    memory = live()
    memory.take(Taken(3 * S, "one", detected("mug")), "base", WALL_NS)  # stamped by a clock that begins with each run
    assert memory.memory["mug"].stamp == WALL_NS / S
    seen = ObservedThing("mug", "mug", (0.0, 0.0, 0.0), (0.1,) * 3, "", {}, "held", "", "workplace", True)
    part = ShortTermPart(memory, "base")
    part.observe(SceneObservation((seen,), "workplace", WALL_NS / S + 1.0))()
    memory.take(Taken(4 * S, "one", detected("mug")), "base", WALL_NS + 2 * S)
    assert ids(memory) == {"mug"}
    assert (memory.memory["mug"].area, memory.memory["mug"].stamp) == ("workplace", WALL_NS / S + 2.0)


def test_what_was_seen_is_forgotten_when_time_begins_anew() -> None:
    memory = live()
    memory.take(Taken(100 * S, "one", detected("mug", "cup")), "map", 100 * S)
    memory.take(Taken(5 * S, "two", detected("mug")), "map", 5 * S)
    assert ids(memory) == {"mug"}
    assert memory.memory["mug"].stamp == 5.0


def test_a_stamp_of_long_ago_makes_nothing_forgotten() -> None:
    memory = live()
    memory.take(Taken(100 * S, "one", detected("mug", "cup")), "map", 100 * S)
    heard = memory.take(Taken(5 * S, "two", detected("mug")), "map", 101 * S)
    assert [news.happened for news in heard.news] == [UnitEvent.REFUSED]
    assert ids(memory) == {"mug", "cup"}


def test_a_detection_without_an_id_is_left_out_with_its_reason() -> None:
    memory = live()
    heard = memory.take(Taken(S, "one", [Detection("mug", (0.0, 0.0, 0.0))], ["said before"]), "map", S)
    assert heard.refused[0] == "said before"
    assert "without object_id" in heard.refused[1]
    assert len(memory.held()) == 0


def test_what_had_to_leave_is_told_with_where_it_was_and_why() -> None:
    memory = live()
    names = ["apple", "bowl", "cup", "fork", "knife", "mug"]
    news = memory.take(Taken(S, "one", detected(*names)), "map", S).news
    (left,) = [each for each in news if each.happened is None]
    assert left.reason
    assert left.standing.segment
    assert ids(memory) == set(names) - {left.standing.unit.object_id}
    assert (memory.tally["added"], memory.tally["evicted"]) == (6, 1)
    assert all(each.segment for each in memory.held())


def test_how_a_recall_turned_out_is_taken_in() -> None:
    memory = live()
    memory.take(Taken(S, "one", detected("mug", "cup")), "map", S)
    found = memory.recalled(memory.answer("a mug", 1))
    assert [each.unit.object_id for each in found.answer.found] == ["mug"]
    assert [each.unit.object_id for each in found.standings] == ["mug"]
    assert memory.tell("mug", RecallOutcome.CONFIRMED, 2 * S).happened is UnitEvent.CONFIRMED
    assert memory.tell("mug", RecallOutcome.NOT_MEANT, 2 * S).happened is UnitEvent.DEMOTED
    gone = memory.tell("mug", RecallOutcome.GONE, 3 * S)
    assert gone.happened is UnitEvent.REMOVED
    assert gone.standing.segment  # that it left
    assert ids(memory) == {"cup"}
    with pytest.raises(StackError, match="there is no unit 'mug'"):
        memory.tell("mug", RecallOutcome.GONE, 3 * S)
    with pytest.raises(StackError, match="there is no outcome 7: give one of 0 CONFIRMED"):
        memory.tell("cup", 7, 3 * S)
    late = memory.take(Taken(2 * S, "one", detected("mug")), "map", 4 * S)  # it had to wait
    assert ([news.happened for news in late.news], ids(memory)) == ([UnitEvent.REFUSED], {"cup"})
    memory.take(Taken(5 * S, "one", detected("mug")), "map", 5 * S)
    assert ids(memory) == {"mug", "cup"}


def test_questions_are_counted_as_they_were_answered() -> None:
    memory = live()
    memory.answer("a mug", 1)
    with pytest.raises(StackError):
        memory.answer("", 1)
    assert (memory.tally["recalls"], memory.tally["failed"]) == (1, 1)


def test_what_is_new_is_embedded_a_little_at_a_time() -> None:
    memory = live(20)
    memory.take(Taken(S, "one", detected(*["apple", "bowl", "cup", "fork", "knife", "mug"])), "map", S)
    assert not memory.prepare()
    assert memory.prepare()


def test_a_store_is_closed_after_what_is_being_committed(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    put: list[str] = []
    ended: list[str] = []
    enough = threading.Event()

    def work() -> None:
        try:
            while True:
                if len(put) == 20:
                    enough.set()
                put.append(scene.upsert("", "", {"object_type": "mug", "position": (0.0, 0.0, 0.0)}))
        except StoreError as error:
            ended.append(str(error))

    worker = threading.Thread(target=work)
    worker.start()
    assert enough.wait(60)
    scene.close()
    worker.join(60)
    assert ended == ["the long-term memory has ended"]
    again = LiveScene(tmp_path / "m.db", "home")
    assert set(again.graph().objects) == set(put)
    again.close()


def test_a_store_that_was_mended_says_so(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    assert scene.mended == ""
    scene.take(Taken(WALL_NS, "one", detected("mug", "cup")), WALL_NS)
    scene.close()
    with sqlite3.connect(tmp_path / "m.db") as connection:
        connection.execute("UPDATE node SET fields = '{}' WHERE id LIKE 'cup%'")
    connection.close()
    scene = LiveScene(tmp_path / "m.db", "home")
    assert "damaged" in scene.mended
    assert [each.object_type for each in scene.graph().known()] == ["mug"]
    scene.close()


def test_what_is_simulated_is_remembered_by_when_it_came(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    scene.take(Taken(5 * S, "one", detected("mug")), WALL_NS)
    scene.take(Taken(2 * S, "two", detected("mug")), WALL_NS + S)
    (mug,) = scene.graph().known()
    assert (mug.sightings, mug.last_seen_ns) == (2, WALL_NS + S)
    scene.close()


def test_a_map_goes_to_a_file_and_back(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    scene.take(Taken(WALL_NS, "one", detected("mug", "cup")), WALL_NS)
    assert scene.save("") == tmp_path / "maps" / "home.json"
    scene.save("", "home.graphml")
    assert scene.load("flat", "home.graphml") == ("flat", 0, 2)
    assert scene.load("", "home.json", replace=True) == ("home", 0, 2)
    with pytest.raises(StackError, match="map 'home' is there already"):
        scene.load("", "home.json")
    assert scene.load("new") == ("new", 0, 0)
    assert scene.find("", Query()).found == ()
    assert len(scene.find("flat", Query()).found) == 2
    scene.close()


@pytest.mark.parametrize("name", ["../m.json", "/etc/x.json", ".x.json", "x.db", "x", "a\x00.json", "a\n.json"])
def test_no_other_file_is_written_or_read(tmp_path: Path, name: str) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    before = scene.changes
    with pytest.raises(StackError, match="is no name of a map's file"):
        scene.save("", name)
    with pytest.raises(StackError, match="is no name of a map's file"):
        scene.load("", name)
    assert scene.changes == before
    scene.close()
    assert not (tmp_path / "maps").exists()


def test_a_second_memory_on_a_store_and_a_bad_map_are_refused(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    with pytest.raises(StackError, match="is being written by another process"):
        LiveScene(tmp_path / "m.db", "home")
    scene.close()
    with pytest.raises(StackError, match="can be no map_id"):
        LiveScene(tmp_path / "m.db", "a\nb")
    LiveScene(tmp_path / "m.db", "home").close()  # what failed holds no lock


@pytest.mark.parametrize(
    ("path", "told"), [("", "is no file: name one"), ("/", "is no file"), ("/dev/null/m.db", "cannot be used")]
)
def test_what_can_be_no_store_is_told(path: str, told: str) -> None:
    with pytest.raises(StackError, match=told):
        LiveScene(Path(path), "home")


def test_a_map_that_there_is_not_is_told(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    assert scene.find("home", Query("mug")).found == ()  # the one that it is in, with nothing in it yet
    mug = {"object_type": "mug", "position": (0.0, 0.0, 0.0)}
    scene.load("flat")  # begins it
    scene.upsert("flat", "", mug)
    for ask in (
        lambda: scene.upsert("mars", "", mug),
        lambda: scene.edit("mars", "mug_1", {"state": "dirty"}),
        lambda: scene.forget("mars", "mug_1"),
        lambda: scene.set_areas("mars", Floor("ground", 0.0), spread(from_points([(0.0, 0.0)], 0.5), 2.0)),
        lambda: scene.find("mars", Query("mug")),
        lambda: scene.describe("mars"),
        lambda: scene.neighbours("mars", "mug_1"),
        lambda: scene.way("mars", "a", "b"),
        lambda: scene.save("mars"),
    ):
        with pytest.raises(GraphError, match="there is no map 'mars': there are 'flat'"):
            ask()
    assert len(scene.find("flat", Query("mug")).found) == 1
    scene.close()


def test_a_clock_that_is_set_back_does_not_freeze_what_is_known(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    scene.take(Taken(WALL_NS, "", detected("mug")), WALL_NS)
    moved = [Detection("mug", (4.0, 0.0, 0.0), (0.1, 0.1, 0.1), source_id="mug")]
    back_ns = WALL_NS - 3600 * S
    (told,) = scene.take(Taken(back_ns, "", moved), back_ns)
    assert "the clock is behind: 1 things" in told
    (mug,) = scene.graph().known()
    assert mug.position == (4.0, 0.0, 0.0)
    assert scene.take(Taken(back_ns + S, "", moved), back_ns + S) == []
    seen_ns = scene.graph().object(mug.id).last_seen_ns
    scene.take(Taken(60 * S, "", detected("cup")), 60 * S)  # a machine whose clock is not set yet
    assert scene.graph().object(mug.id).last_seen_ns == seen_ns  # what it does not see stays as it is
    scene.close()


def test_one_that_is_started_again_is_in_the_map_that_it_is_started_with(tmp_path: Path) -> None:
    scene = LiveScene(tmp_path / "m.db", "home")
    scene.load("flat")
    scene.take(Taken(WALL_NS, "", detected("cup")), WALL_NS)
    scene.close()
    again = LiveScene(tmp_path / "m.db", "home")
    assert again.map_id == "home"
    assert len(again.find("flat", Query("cup")).found) == 1
    again.close()
