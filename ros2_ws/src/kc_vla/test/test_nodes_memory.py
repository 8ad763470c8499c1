"""The two memories as nodes, each by itself: what is seen goes in, what is asked comes out, and what is told stays."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, KeyValue
from geometry_msgs.msg import Point, Vector3
from nav_msgs.msg import OccupancyGrid
from nightly import at_night
from node_process import Peer, running
from visualization_msgs.msg import Marker, MarkerArray

from kc_vla.core import topics
from kc_vla.core.robot import load_robot
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla_msgs.msg import (
    MemoryChange,
    MemoryChanges,
    MemoryUnit,
    MemoryUnits,
    ObjectDetection,
    ObjectDetections,
    SceneObject,
)
from kc_vla_msgs.srv import (
    DescribeScene,
    EditScene,
    FindWay,
    ForgetObject,
    GetNeighbours,
    LoadMap,
    MemoryStatistics,
    ObserveUnits,
    QueryScene,
    RecallUnits,
    SaveMap,
    SetAreas,
    TellRecall,
)

SHORT, LONG = "kc_vla.nodes.short_term_memory", "kc_vla.nodes.long_term_memory"
FRAME = load_robot("panda_sim").base_frame
FAST = {"diagnostics_period": 0.1}


class Detector(Peer):
    """Sees objects, and asks."""

    def __enter__(self) -> Detector:
        super().__enter__()
        self._publisher = self.node.create_publisher(ObjectDetections, topics.DETECTIONS, qos.STATE)
        return self

    def see(self, *things: ObjectDetection, frame: str = FRAME, stamped: bool = True) -> None:
        """Say once what is there; the node must be there, too."""
        self.until(self._publisher.get_subscription_count)
        message = ObjectDetections(episode_id="one", detections=list(things))
        message.header.frame_id = frame
        if stamped:
            message.header.stamp = self.node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def see_until(self, done: Any, *things: ObjectDetection) -> Any:
        """Say what is there, again and again, as a detector does: best effort may lose one."""
        return self.until(lambda: self.see(*things) or done())

    def recall(self, text: str, **asked: Any) -> RecallUnits.Response:
        return self.call(RecallUnits, topics.RECALL_UNITS, RecallUnits.Request(text=text, **asked))

    def statistics(self) -> MemoryStatistics.Response:
        return self.call(MemoryStatistics, topics.MEMORY_STATISTICS, MemoryStatistics.Request())

    def query(self, **asked: Any) -> QueryScene.Response:
        return self.call(QueryScene, topics.QUERY_SCENE, QueryScene.Request(**asked))

    def objects(self, **asked: Any) -> list[SceneObject]:
        return list(self.query(**asked).objects)


def thing(kind: str, name: str, x: float = 0.0, **said: Any) -> ObjectDetection:
    found = ObjectDetection(object_type=kind, object_id=name, confidence=0.9, **said)
    found.pose.position.x = x
    found.size = Vector3(x=0.1, y=0.1, z=0.1)
    return found


def unit(kind: str, name: str, **said: Any) -> MemoryUnit:
    made = MemoryUnit(object_type=kind, object_id=name, **said)
    made.header.frame_id = FRAME
    return made


HOSTILE = [thing("mug\x1b[2J\n", "m"), thing("mug", "n", x=float("nan")), thing("m" * 1_000_000, "o")]


def test_the_short_term_memory_recalls_what_it_saw_and_learns_how_that_turned_out(tmp_path: Path) -> None:
    with running(SHORT, tmp_path / "log", capacity=5, **FAST), Detector() as peer:
        units = peer.hear(MemoryUnits, topics.SHORT_TERM_UNITS, qos.STATUS)
        changes = peer.hear(MemoryChanges, topics.SHORT_TERM_CHANGES, qos.EVENT)
        peer.see_until(
            lambda: units and len(units[-1].units) == 2, thing("Knife", "k1"), thing("Mug", "m1", state="dirty")
        )
        assert {(each.object_id, each.state, each.header.frame_id) for each in units[-1].units} == {
            ("k1", "", FRAME),
            ("m1", "dirty", FRAME),
        }
        assert all(each.segment for each in units[-1].units)
        peer.see_until(lambda: changes, thing("Knife", "k1"))
        assert {told.episode_id for told in changes} == {"one"}
        found = peer.recall("something to cut with", k=1)
        assert (found.success, found.message) == (True, "")
        assert [each.object_id for each in found.units] == ["k1"]
        assert "knife" in found.answer
        assert 0.0 <= found.confidence <= 1.0
        told = peer.call(
            TellRecall, topics.TELL_RECALL, TellRecall.Request(object_id="k1", outcome=TellRecall.Request.GONE)
        )
        assert (told.success, told.change.type) == (True, MemoryChange.REMOVED)
        assert [each.object_id for each in peer.recall("something to cut with").units] == ["m1"]
        again = peer.call(TellRecall, topics.TELL_RECALL, TellRecall.Request(object_id="k1"))
        assert (again.success, again.message[:25]) == (False, "there is no unit 'k1': it")

        more = [unit(kind, kind) for kind in ("Apple", "Bowl", "Cup", "Plate", "Spoon")]
        seen = peer.call(ObserveUnits, topics.OBSERVE_UNITS, ObserveUnits.Request(units=more))
        assert "it was not known" in {change.reason for change in seen.changes}
        left = [change for change in seen.changes if change.type == MemoryChange.EVICTED]
        assert len(left) == 1
        assert left[0].reason
        assert left[0].unit.segment
        peer.until(lambda: any(change.type == MemoryChange.EVICTED for told in changes for change in told.changes))
        elsewhere = unit("Pan", "r")
        elsewhere.header.frame_id = "mars"
        unknown = peer.call(ObserveUnits, topics.OBSERVE_UNITS, ObserveUnits.Request(units=[elsewhere]))
        assert (unknown.success, "is in the frame 'mars'" in unknown.message) == (False, True)
        half = [unit("Pan", "p"), unit("Pan", "q", state="melted")]
        refused = peer.call(ObserveUnits, topics.OBSERVE_UNITS, ObserveUnits.Request(units=half))
        assert (refused.success, "there is no state 'melted'" in refused.message) == (False, True)
        counts = peer.statistics()
        assert "p" not in {each.object_id for each in counts.held.units}
        assert (counts.evicted, counts.removed, counts.added, counts.recalls) == (1, 1, 7, 2)
        assert (counts.embedding, counts.held.capacity, len(counts.held.units)) == ("all-MiniLM-L6-v2", 5, 5)


def test_what_a_detector_tells_of_colours_is_what_is_asked_for(tmp_path: Path) -> None:
    mugs = [thing("mug", name, attributes=[KeyValue(key="colour", value=name)]) for name in ("red", "blue", "white")]
    with running(SHORT, tmp_path / "log", **FAST), Detector() as peer:
        peer.see_until(lambda: peer.statistics().added == len(mugs), *mugs)
        for name in ("blue", "red", "white"):
            (found,) = peer.recall(f"the {name} mug", k=1).units
            assert (found.object_id, [(each.key, each.value) for each in found.attributes]) == (
                name,
                [("colour", name)],
            )
        (found,) = peer.recall("a mug, but not the red or the white one", k=1).units
        assert found.object_id == "blue"


def test_the_short_term_memory_refuses_what_cannot_be_and_lives_on(tmp_path: Path) -> None:
    with running(SHORT, tmp_path / "log", **FAST) as process, Detector() as peer:
        log = tmp_path / "log"
        peer.until(lambda: peer.see(thing("mug", "far"), frame="moon") or "'moon'" in log.read_text())
        peer.until(lambda: peer.see(thing("mug", "never"), stamped=False) or "without a stamp" in log.read_text())
        peer.see_until(lambda: peer.statistics().added, thing("mug", "m1"), *HOSTILE)
        assert [each.object_id for each in peer.statistics().held.units] == ["m1"]
        ahead = unit("Pan", "p")
        ahead.header.stamp.sec = 2**31 - 1
        refused = peer.call(ObserveUnits, topics.OBSERVE_UNITS, ObserveUnits.Request(units=[ahead]))
        assert (refused.success, "ahead of this node's clock" in refused.message) == (False, True)
        for request, told in (
            ({"text": ""}, "an instruction of 0 letters"),
            ({"text": "a mug", "k": 4_000_000_000}, "ask for 1 to 100 units"),
            ({"text": "a mug", "states": ["melted"]}, "there is no state 'melted'"),
            ({"text": "a mug", "radius": 1.0}, "near has no frame_id"),
        ):
            answer = peer.recall(**request)
            assert (answer.success, told in answer.message) == (False, True), answer.message
        assert process.poll() is None
    said = (tmp_path / "log").read_text()
    assert "detections in the frame 'moon': this memory takes 'panda_link0'" in said
    assert "\x1b" not in said.replace("\x1b[0m", "").replace("\x1b[33m", "")
    assert "Traceback" not in said
    assert max(map(len, said.splitlines())) < 500


def test_what_the_long_term_memory_has_committed_outlives_it(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with Detector() as peer, running(LONG, tmp_path / "log", store=store, period=0.05, **FAST) as process:
        peer.see_until(lambda: len(peer.objects()) == 2, thing("mug", "m"), thing("table", "t", x=2.0))
        wanted = EditScene.Request(fields=["object_type", "position", "attributes"])
        wanted.object = SceneObject(object_type="lamp", position=Point(x=5.0))
        lamp = peer.call(EditScene, topics.UPSERT_OBJECT, wanted)
        assert (lamp.success, lamp.message) == (True, "")
        known = {each.id for each in peer.objects()}
        with running(LONG, tmp_path / "second", store=store) as second:
            assert second.wait(60) == CANNOT_START
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    assert "is being written by another process: end it" in (tmp_path / "second").read_text()
    with Detector() as peer, running(LONG, tmp_path / "log", store=store, **FAST):  # that has never heard of the first
        assert {each.id for each in peer.objects()} == known
        assert len(known) == 3
        found = peer.query(text="lamp")
        assert (found.objects[0].id, found.objects[0].position.x) == (lamp.id, 5.0)
        assert list(found.objects[0].by_hand) == ["attributes", "confidence", "object_type", "position"]
        assert found.header.frame_id == FRAME
    assert "map 'home' has 0 areas and 3 objects" in (tmp_path / "log").read_text()


def room() -> OccupancyGrid:
    """Six metres by two, all of it free."""
    grid = OccupancyGrid(data=[0] * (60 * 20))
    grid.info.width, grid.info.height, grid.info.resolution = 60, 20, 0.1
    grid.info.origin.orientation.w = 1.0
    return grid


def test_the_long_term_memory_answers_and_is_drawn(tmp_path: Path) -> None:
    with running(LONG, tmp_path / "log", store=tmp_path / "m.db", period=0.05, **FAST) as process, Detector() as peer:
        areas = peer.call(SetAreas, topics.SET_AREAS, SetAreas.Request(grid=room(), spacing=2.0)).areas
        assert len(areas) >= 2
        peer.see_until(lambda: len(peer.objects()) == 2, thing("mug", "m", x=0.5), thing("table", "t", x=5.5))
        (mug,) = peer.objects(object_type="mug")
        (table,) = peer.objects(near=Point(x=5.5), radius=1.0)
        assert (mug.object_type, table.object_type, table.movable) == ("mug", "table", False)
        way = peer.call(FindWay, topics.FIND_WAY, FindWay.Request(begin=mug.id, end=table.id))
        assert (way.areas[0], way.areas[-1]) == (mug.area, table.area)
        assert len(way.path.poses) == len(way.areas)
        assert way.length > 2.0
        beside = peer.call(GetNeighbours, topics.GET_NEIGHBOURS, GetNeighbours.Request(id=mug.id))
        assert (list(beside.relations), list(beside.ids)) == (["area"], [mug.area])
        text = peer.call(DescribeScene, topics.DESCRIBE_SCENE, DescribeScene.Request(text="a mug"))
        assert mug.id in text.description
        assert text.areas[0] == mug.area

        drawn = peer.hear(MarkerArray, topics.SCENE_MARKERS, qos.EVENT)  # a viewer that comes late, and is no latecomer
        shown = peer.until(lambda: drawn and drawn[-1].markers)
        assert shown[0].action == Marker.DELETEALL
        assert {each.ns for each in shown[1:]} == {"areas", "ways", "area_names", "objects", "object_names"}
        assert {each.text for each in shown if each.ns == "object_names"} == {"mug", "table"}

        named = EditScene.Request(object=SceneObject(id=mug.area), name="kitchen\x1b[2J")
        assert peer.call(EditScene, topics.EDIT_SCENE, named).success
        peer.call(ForgetObject, topics.FORGET_OBJECT, ForgetObject.Request(id=table.id))
        assert [each.id for each in peer.objects()] == [mug.id]
        saved = peer.call(SaveMap, topics.SAVE_MAP, SaveMap.Request(file="copy.json"))
        assert Path(saved.path) == tmp_path / "maps" / "copy.json"
        other = peer.call(LoadMap, topics.LOAD_MAP, LoadMap.Request(map_id="flat", file="copy.json"))
        assert (other.success, other.map_id, other.objects) == (True, "flat", 1)
        peer.until(lambda: any(each.text == '"kitchen\\u001b[2J"' for each in drawn[-1].markers))
        assert process.poll() is None


def test_the_long_term_memory_refuses_what_cannot_be_and_lives_on(tmp_path: Path) -> None:
    grid = room()
    grid.info.width = 4_000_000_000
    with running(LONG, tmp_path / "log", store=tmp_path / "m.db", period=0.05, **FAST) as process, Detector() as peer:
        log = tmp_path / "log"
        peer.until(lambda: peer.see(thing("mug", "far"), frame="moon") or "'moon'" in log.read_text())
        peer.see_until(peer.objects, thing("mug", "m1"), *HOSTILE)
        for kind, topic, request, told in (
            (QueryScene, topics.QUERY_SCENE, QueryScene.Request(radius=-1.0), "a radius of -1.0 m"),
            (
                QueryScene,
                topics.QUERY_SCENE,
                QueryScene.Request(area="attic"),
                "no area or floor 'attic' in map 'home'",
            ),
            (QueryScene, topics.QUERY_SCENE, QueryScene.Request(text="a" * 1_000_000), "1000000 letters: 10000 are"),
            (GetNeighbours, topics.GET_NEIGHBOURS, GetNeighbours.Request(id="x\x1b"), "there is no node 'x\\x1b'"),
            (FindWay, topics.FIND_WAY, FindWay.Request(begin="mug_1", end="mug_1"), "'mug_1' is in no area"),
            (EditScene, topics.UPSERT_OBJECT, EditScene.Request(), "a new object needs object_type and position"),
            (EditScene, topics.EDIT_SCENE, EditScene.Request(fields=["id"]), "there is no node ''"),
            (SaveMap, topics.SAVE_MAP, SaveMap.Request(file="../../x.json"), "is no name of a map's file"),
            (LoadMap, topics.LOAD_MAP, LoadMap.Request(file="none.json"), "No such file or directory; there are none"),
            (LoadMap, topics.LOAD_MAP, LoadMap.Request(), "which map?"),
            (SetAreas, topics.SET_AREAS, SetAreas.Request(grid=grid), "4000000000 x 20 cells and carries 1200"),
            (SetAreas, topics.SET_AREAS, SetAreas.Request(), "give a grid or points"),
            (DescribeScene, topics.DESCRIBE_SCENE, DescribeScene.Request(most_tokens=1), "1 tokens are too few"),
        ):
            answer = peer.call(kind, topic, request)
            assert (answer.success, told in answer.message) == (False, True), answer.message
        assert [each.object_type for each in peer.objects()] == ["mug"]
        assert process.poll() is None
    said = (tmp_path / "log").read_text()
    assert "detections in the frame 'moon': this memory takes 'panda_link0'" in said
    assert "Traceback" not in said
    assert max(map(len, said.splitlines())) < 500


@pytest.mark.nightly
def test_a_full_disk_is_told_and_costs_nothing_that_was_committed(tmp_path: Path) -> None:
    large = [KeyValue(key=str(at), value="x" * 1000) for at in range(60)]
    wanted = EditScene.Request(fields=["object_type", "position", "attributes"])
    wanted.object = SceneObject(object_type="lamp", attributes=large)
    with running(LONG, tmp_path / "log", store=tmp_path / "m.db", period=0.05, **FAST) as process, Detector() as peer:
        health = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
        said = [peer.call(EditScene, topics.UPSERT_OBJECT, wanted)]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
        peer.until(lambda: said.append(peer.call(EditScene, topics.UPSERT_OBJECT, wanted)) or not said[-1].success)
        assert "what was committed is kept; free some space on its disk" in said[-1].message
        kept = {each.id for each in said[:-1]}
        many = [thing("cup", f"cup {at}", x=float(at)) for at in range(200)]
        peer.see_until(
            lambda: any("free some space" in status.message for each in health for status in each.status), *many
        )
        assert {each.id for each in peer.objects(object_type="lamp")} == kept
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert peer.call(EditScene, topics.UPSERT_OBJECT, wanted).success
        assert len(peer.objects(object_type="lamp")) == len(kept) + 1
        assert process.poll() is None


@pytest.mark.parametrize(
    ("node", "parameters", "line"),
    [
        (LONG, {"store": "/dev/null/memory.db"}, "/dev/null/memory.db cannot be used: "),
        *at_night((SHORT, {"embedding": "/nowhere"}, "/nowhere"), (LONG, {"camera": "/nowhere.yaml"}, "/nowhere.yaml")),
    ],
)
def test_what_cannot_be_opened_is_told_in_a_line(
    tmp_path: Path, node: str, parameters: dict[str, object], line: str
) -> None:
    with running(node, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    said = (tmp_path / "log").read_text()
    assert line in said
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1, said
