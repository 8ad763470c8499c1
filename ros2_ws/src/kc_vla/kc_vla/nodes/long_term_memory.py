"""Node `long_term_memory`: the scene graph, built as detections come, kept in a store, and asked by services."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from std_msgs.msg import Header

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.core.stamps import nanoseconds
from kc_vla.inference.worker import JobOutcome
from kc_vla.memory.embedding.models import OFFLINE, open_embedder
from kc_vla.memory.live_scene import LiveScene, Looked
from kc_vla.memory.long_term.describe import Description
from kc_vla.memory.long_term.detections import FusionSettings
from kc_vla.memory.long_term.errors import GraphError, StoreError
from kc_vla.memory.long_term.nodes import Vector
from kc_vla.memory.long_term.query import QueryAnswer
from kc_vla.memory.long_term.ways import Way
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.changed_places import ChangedPlaces
from kc_vla.ros.detections import DetectionFeed, DetectionParameters, Job, taken_from
from kc_vla.ros.health import WARN
from kc_vla.ros.keyframe_links import KeyframeLinks
from kc_vla.ros.linked_keyframes import history_response
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.scene import (
    areas_response,
    description_response,
    fields_from,
    id_response,
    looked_response,
    neighbours_response,
    path_response,
    query_from,
    query_response,
    size_response,
    spread_from,
    way_response,
)
from kc_vla.ros.scene_markers import SceneMarkers
from kc_vla.ros.scene_nodes import area_from, changes_response
from kc_vla.ros.skills import sight_from
from kc_vla.ros.viewpoints import place_from
from kc_vla.ros.work import Service, runner, serve
from kc_vla_msgs.msg import ObjectDetections
from kc_vla_msgs.srv import (
    ConnectAreas,
    DescribeScene,
    EditScene,
    EnterMap,
    FindWay,
    ForgetObject,
    GetLinkedKeyframes,
    GetNeighbours,
    LoadMap,
    ObserveScene,
    QueryScene,
    SaveMap,
    SceneSince,
    SetAreas,
)

_WAITING = 100
"""Questions that wait at most."""


@dataclass(frozen=True)
class LongTermParameters(DetectionParameters):
    """Parameters of the node."""

    store: str = parameter("memory.db", "file of the memory; a new one is made")
    map_id: str = parameter("home", "map that the memory uses at start-up")
    period: float = parameter(0.5, "s between two uses of the newest detections", low=0.05, high=60.0)
    keyframes: bool = parameter(
        True, "link the confirmed keyframes of the buffer with the objects that are detected in them"
    )
    keyframes_of_changes: bool = parameter(
        False, "add a frame as a keyframe when a detected thing has come to rest at a new place"
    )
    keyframe_tolerance: float = parameter(0.15, "most s between a keyframe and its detections", low=0.0, high=5.0)
    trust_ids: bool = parameter(True, "trust that an object_id of the detector always means the same object")
    embedding: str = parameter(
        OFFLINE, "embedding of sentences: offline, a folder, or hub:OWNER/NAME@REVISION#SHA256; empty: words alone"
    )


class LongTermMemoryNode(StackNode):
    """The node `long_term_memory`, which builds the scene graph and answers questions about it."""

    Parameters = LongTermParameters
    parameters: LongTermParameters

    def __init__(self) -> None:
        super().__init__("long_term_memory")

    def start(self) -> None:
        """Open the store and the services."""
        values = self.parameters
        self._intake = values.intake(self)
        try:
            embed = open_embedder(values.embedding).embed if values.embedding else None
            settings = FusionSettings(trust_source_ids=values.trust_ids)
            self._live = LiveScene(Path(values.store).expanduser(), values.map_id, settings, embed)
        except StackError as error:
            raise StartError(str(error)) from error
        if self._live.mended:
            self.get_logger().warning(self._live.mended)
        size = self._live.size()
        store = f"{values.store}{', a new store' if self._live.is_new else ''}"
        self.get_logger().info(f"{store}: map {size.map_id!r} has {size.areas} areas and {size.objects} objects")
        self._work = runner(self, False, "the long-term memory", _WAITING, refusals=(StackError,))
        SceneMarkers(self, self._work, self._live, self._header)
        if values.detections:
            heard = self._links().detected if values.keyframes else lambda message: None
            DetectionFeed(self, self._work, self._job_of, self._on_taken, 1, values.period, heard)
        serve(self, self._work, self._offers())

    def stop(self) -> None:
        """Close the store, after what is being committed."""
        self._work.close()
        self._live.close()

    def details(self) -> dict[str, object]:
        """Return which map it is in, and what came of the detections."""
        if not self.works:
            return {}
        told = {"map": self._live.map_id, "store": self.parameters.store, "mended": self._live.mended or "nothing"}
        return {**told, **self._live.tally}

    def _links(self) -> KeyframeLinks:
        values = self.parameters
        changed = ChangedPlaces(self) if values.keyframes_of_changes else None
        return KeyframeLinks(self, self._work, self._live, self._intake, values.keyframe_tolerance, changed)

    # -- what is seen -------------------------------------------------------------------------------------------

    def _job_of(self, message: ObjectDetections) -> Job:
        now_ns = time.time_ns()
        return partial(self._live.take, taken_from(message, self._intake, now_ns), now_ns)

    def _on_taken(self, outcome: JobOutcome[list[str]]) -> None:
        try:
            refused = outcome.result()
        except StackError as error:
            self.problem(str(error), ERROR if isinstance(error, StoreError) else WARN)
            return
        self.problem(refused[0] if refused else "")

    # -- services -----------------------------------------------------------------------------------------------

    def _offers(self) -> tuple[Service, ...]:
        """Return for each service its type, its name, its work on the request, and what fills the response."""
        live = self._live
        return (
            (QueryScene, topics.QUERY_SCENE, lambda asked: live.find(asked.map_id, query_from(asked)), self._found),
            (
                GetNeighbours,
                topics.GET_NEIGHBOURS,
                lambda asked: live.neighbours(asked.map_id, asked.id),
                neighbours_response,
            ),
            (FindWay, topics.FIND_WAY, lambda asked: live.way(asked.map_id, asked.begin, asked.end), self._way),
            (DescribeScene, topics.DESCRIBE_SCENE, self._describe, description_response),
            (EditScene, topics.UPSERT_OBJECT, self._upsert, id_response),
            (EditScene, topics.EDIT_SCENE, self._edit, id_response),
            (ForgetObject, topics.FORGET_OBJECT, self._forget, lambda response, nothing: None),
            (SaveMap, topics.SAVE_MAP, lambda asked: live.save(asked.map_id, asked.file), path_response),
            (LoadMap, topics.LOAD_MAP, lambda asked: live.load(asked.map_id, asked.file, asked.replace), size_response),
            (ConnectAreas, topics.CONNECT_AREAS, self._connect, id_response),
            (EnterMap, topics.ENTER_MAP, self._enter, lambda response, nothing: None),
            (ObserveScene, topics.OBSERVE_SCENE, self._observe, looked_response),
            (SceneSince, topics.SCENE_SINCE, lambda asked: live.since(asked.map_id, asked.revision), changes_response),
            (GetLinkedKeyframes, topics.LINKED_KEYFRAMES, self._linked, lambda response, found: found(response)),
            (
                SetAreas,
                topics.SET_AREAS,
                lambda asked: live.set_areas(asked.map_id, *spread_from(asked)),
                areas_response,
            ),
        )

    def _linked(self, request: GetLinkedKeyframes.Request) -> Callable[[GetLinkedKeyframes.Response], None]:
        history = self._live.linked(request.map_id)
        return partial(history_response, history=history, after=int(request.after))

    def _connect(self, request: ConnectAreas.Request) -> str:
        if request.remove:
            self._live.disconnect(request.map_id, request.remove)
            return str(request.remove)
        wait_m = None if request.wait < 0.0 else request.wait
        return self._live.connect(request.map_id, request.one, request.other, request.kind, request.length, wait_m)

    def _enter(self, request: EnterMap.Request) -> None:
        self._live.enter(request.map_id, {each.id: area_from(each) for each in request.areas})

    def _observe(self, request: ObserveScene.Request) -> Looked:
        stamp_ns = nanoseconds(request.stamp) or time.time_ns()
        seen, refused = sight_from(request.seen)
        revision = request.revision if request.follows else None
        looked = self._live.look(request.map_id, seen, request.at, request.missed, stamp_ns, revision)
        return looked._replace(refused=refused + looked.refused)

    def _found(self, response: QueryScene.Response, found: QueryAnswer) -> None:
        query_response(response, found, self._header())

    def _way(self, response: FindWay.Response, found: tuple[Way, list[Vector]]) -> None:
        way_response(response, *found, self._header())

    def _describe(self, request: DescribeScene.Request) -> Description:
        near = place_from(request.near) if request.use_near else None
        return self._live.describe(request.map_id, request.text, int(request.most_tokens), near)

    def _upsert(self, request: EditScene.Request) -> str:
        if request.name:
            raise GraphError("upsert is for objects: edit an area or a floor")
        return self._live.upsert(request.map_id, request.object.id, fields_from(request))

    def _edit(self, request: EditScene.Request) -> str:
        values = fields_from(request) or ({"name": request.name} if request.name else {})
        return self._live.edit(request.map_id, request.object.id, values)

    def _forget(self, request: ForgetObject.Request) -> None:
        self._live.forget(request.map_id, request.id, request.release)

    def _header(self) -> Header:
        return Header(stamp=self.get_clock().now().to_msg(), frame_id=self._intake.frame)


def main() -> None:
    """Run the node."""
    run_node(LongTermMemoryNode)
