"""The scene graph of the long-term memory: loading, telling, asking, committing; beside plain JSON and spark_dsg."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import networkx as nx

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.building import observe
from kc_vla.memory.long_term.describe import describe
from kc_vla.memory.long_term.detections import Detection, FusionSettings
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.exchange import form_of
from kc_vla.memory.long_term.fields import to_fields
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject
from kc_vla.memory.long_term.query import FoundObject, Query, find
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.views import BoxView
from kc_vla.memory.long_term.ways import way
from kc_vla.memory.long_term.words import Words
from kc_vla.memory.searching.graph_search import GraphSearch

from .measuring import Spread, Table

_AREAS, _OBJECTS, _ROW = 300, 10_000, 20
_BUDGETS = (2000, 8000, 32_000)
_CLASSES = ("mug", "apple", "bowl", "book", "chair", "table", "lamp", "plant", "shoe", "bottle", "knife", "cup")


def measure(quick: bool, work: Path) -> Table:
    """Fill a store, and do with it what a robot does."""
    times = 5 if quick else 25
    graph = _graph()
    with Store(work / "memory.db") as store:
        store.write("home", GraphChange(tuple(graph.nodes()), (), graph.number))
    loads = {
        "open and load": lambda: _load(work / "memory.db"),
        "reference: the same from JSON into networkx": _reference(graph, work / "reference.json"),
        **_spark_dsg(graph, work),
    }
    budgets = {f"describe, {budget} tokens": partial(describe, graph, budget) for budget in _BUDGETS}
    rows = [*_rows(loads, times), *_rows(budgets, times), *_asked(graph, times), *_written(graph, work, 100 * times)]
    return Table(
        f"Scene graph of {_AREAS} areas and {_OBJECTS:,} objects, ms: p50 / p99 / max",
        rows,
        [
            "Reference: `json.load` of the same nodes and edges, and `networkx.node_link_graph`; it checks nothing.",
            "spark_dsg, where it is installed: `DynamicSceneGraph.load` of what `kc-vla memory export` writes.",
            "Upsert: one object and its commit, written ahead, synchronous=NORMAL. Observe: ten detections among the "
            "objects, negative evidence in a box of 4 m included, and its commit.",
        ],
    )


def _graph() -> SceneGraph:
    """Areas 2 m apart in rows, objects all over them."""
    chance = random.Random(1)
    areas = []
    for number in range(_AREAS):
        x, y = number % _ROW, number // _ROW
        beside = [(x + dx, y + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        known = [column + row * _ROW for column, row in beside if 0 <= column < _ROW and 0 <= row < _AREAS // _ROW]
        ways = {f"node_{each + 1}": 2.0 for each in known}
        areas.append(Area(f"node_{number + 1}", "ground", (2.0 * x, 2.0 * y, 0.0), ways))
    objects = []
    for number in range(_AREAS + 1, _AREAS + 1 + _OBJECTS):
        kind = chance.choice(_CLASSES)
        place = chance.uniform(-1, 2 * _ROW - 1), chance.uniform(-1, 2 * _AREAS / _ROW - 1), chance.uniform(0.1, 1.5)
        area = f"node_{1 + round(place[0] / 2) % _ROW + round(place[1] / 2) * _ROW}"
        stamps = 10**18, 10**18 + number
        said = {"colour": chance.choice(("red", "green", "blue"))}
        thing = SceneObject(
            f"{kind}_{number}", kind, place, (0.1, 0.1, 0.2), area, True, "clean", said, 0.9, *stamps, 7
        )
        objects.append(thing)
    return SceneGraph("home", [Floor("ground", 0.0), *areas, *objects], _AREAS + _OBJECTS + 1)


def _load(path: Path) -> SceneGraph:
    with Store(path) as store:
        return store.load("home")


def _reference(graph: SceneGraph, path: Path) -> Callable[[], object]:
    plain: nx.DiGraph = nx.DiGraph()
    plain.add_nodes_from((node.id, to_fields(node)) for node in graph.nodes())
    plain.add_edges_from(graph.network.edges(data=True))
    for _, said in plain.nodes(data=True):
        said["name"] = said.pop("id")
    path.write_text(json.dumps(nx.node_link_data(plain, edges="edges")))
    return lambda: nx.node_link_graph(json.loads(path.read_text()), edges="edges")


def _spark_dsg(graph: SceneGraph, work: Path) -> dict[str, Callable[[], object]]:
    try:
        form_of(work, "spark-dsg").write(graph, work / "dsg.json")
    except GraphError:
        return {}
    from spark_dsg import DynamicSceneGraph

    DynamicSceneGraph.load(str(work / "dsg.json")).save(str(work / "dsg.sparkdsg"), False)
    names = {"JSON": "dsg.json", "binary format": "dsg.sparkdsg"}
    return {
        f"reference: spark_dsg's {form}": partial(DynamicSceneGraph.load, str(work / n)) for form, n in names.items()
    }


def _asked(graph: SceneGraph, times: int) -> list[dict[str, object]]:
    words, search = Words(), GraphSearch(shared_embedder().embed)
    text = Query("a red mug")
    words.scores(graph.objects, text.text)  # the first time each object's words are looked at
    beside = f"the mug next to {next(iter(graph.objects))}"
    near = Query(near=(20.0, 14.0, 0.8), radius_m=2.0)
    works = {
        "query by text": lambda: _by_text(graph, search, text.text),
        "query by a relation": lambda: _by_text(graph, search, beside),
        "reference: words alone": lambda: find(graph, text, words.scores(graph.objects, text.text)),
        "query within 2 m": partial(find, graph, near),
        "way across all areas": partial(way, graph, "node_1", f"node_{_AREAS}"),
    }
    return _rows(works, times)


def _by_text(graph: SceneGraph, search: GraphSearch, text: str) -> list[FoundObject]:
    meant = search.answer(graph, text).matches
    return find(graph, Query(text), {each.thing.object_id: each.score for each in meant})


def _written(graph: SceneGraph, work: Path, times: int) -> list[dict[str, object]]:
    objects = list(graph.objects.values())
    chance = random.Random(2)
    with Store(work / "memory.db") as store:
        upsert = _rows(
            {"upsert and commit": lambda: store.write("home", GraphChange((chance.choice(objects),)))}, times
        )
        now = 10**18 + 10**9

        def look() -> None:
            nonlocal now
            now += 10**8
            x, y, _ = chance.choice(objects).position
            some = [each for each in graph.near((x, y, 0.8), 2.0) if each.object_type == "mug"][:10]
            seen = [Detection(each.object_type, each.position, each.size, 0.9) for each in some]
            seen += [Detection("ball", (x + number, y, 0.5), (0.1, 0.1, 0.1), 0.9) for number in range(10 - len(seen))]
            change, _ = observe(graph, seen, now, BoxView((x - 2, y - 2, 0.0), (x + 2, y + 2, 2.0)), FusionSettings())
            store.write("home", change)

        return [*upsert, *_rows({"observe ten detections and commit": look}, times // 10)]


def _rows(works: dict[str, Callable[[], object]], times: int) -> list[dict[str, object]]:
    """Each so often, in turns: what else the machine does falls on all of them alike."""
    took: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(times + 1):
        for name, work in works.items():
            began = time.perf_counter()
            made = work()
            if turn:  # the first time is to get warm
                took[name].append(1e3 * (time.perf_counter() - began))
            del made  # that it is freed is no part of it
    spreads = {name: Spread.of(each) for name, each in took.items()}
    return [{"operation": name, "repetitions": times, "time, ms": _text(spread)} for name, spread in spreads.items()]


def _text(spread: Spread) -> str:
    figures = (spread.p50, spread.p99, spread.maximum)
    return str(spread) if spread.p50 >= 0.1 else " / ".join(f"{each:.3f}" for each in figures)
