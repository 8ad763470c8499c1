"""`kc-vla memory`: the scene graphs of a long-term memory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kc_vla.bags.errors import BagError
from kc_vla.cameras.errors import CalibrationError
from kc_vla.cli.memory_ask import add_arguments as add_question
from kc_vla.cli.memory_ask import print_answer
from kc_vla.cli.memory_build_arguments import add_build_arguments
from kc_vla.cli.memory_keyframes import add_arguments as add_object
from kc_vla.cli.memory_keyframes import keyframe_lines
from kc_vla.cli.numbers import positive
from kc_vla.cli.scene_ways import add_way_actions
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.deprecation import deprecated
from kc_vla.core.errors import StackError

if TYPE_CHECKING:
    from kc_vla.memory.long_term.memory import LongTermMemory
    from kc_vla.memory.long_term.store import Store

_FORMS = ("json", "graphml", "spark-dsg")


class _MapError(StackError):
    """It is not clear which map is meant."""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("memory", _add_arguments).parse_args(words)
    return exit_status("memory", lambda: options.run(options), StackError, BagError, CalibrationError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Build the file of a long-term memory, or look into it, also while it is written."
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    build = actions.add_parser("build", help="build a memory from the detections in bags, or from their camera images")
    add_build_arguments(build)
    build.set_defaults(run=_build)
    names = {
        "show": "a map as text for a planner, and as a picture",
        "ask": "a question in words: where something is, what is in a place, in which state a thing is",
        "keyframes": "the keyframes of a map, or those that show an object, and where it was then",
        "query": "objects by text, class, area, radius, relation",
        "export": "a map as JSON, GraphML, or the JSON of spark_dsg",
        "import": "a map from such a file",
    }
    show, ask, keyframes, query, export, taken = (actions.add_parser(name, help=text) for name, text in names.items())
    for action in (show, ask, keyframes, query, export, taken):
        action.add_argument("store", type=Path, help="file of the memory")
        action.add_argument("--map", default="", help="map_id (default: the only one, or that of the file)")
    show.add_argument(
        "--budget", type=positive, default=2000, metavar="TOKENS", help="budget of the text in tokens (default 2000)"
    )
    show.add_argument("--text", default="", help="a question: what fits it comes first")
    show.add_argument("--png", type=Path, metavar="FILE", help="draw the graph into this file, too")
    show.set_defaults(run=_show)
    add_question(ask)
    ask.set_defaults(run=_ask)
    add_object(keyframes)
    keyframes.set_defaults(run=_keyframes)
    query.add_argument("text", nargs="?", default="", help="what they are: 'a clean mug', 'the thing left of the mug'")
    query.add_argument("--text", dest="said", default="", help="the same")
    query.add_argument(
        "--from",
        dest="viewpoint",
        nargs="+",
        metavar="WHERE",
        help="viewpoint for 'left of' and the like: id or name of an object or an area, or X Y Z in m, "
        "and the yaw in rad",
    )
    query.add_argument("--type", default="", help="class")
    query.add_argument("--area", default="", help="id or name of an area or a floor")
    query.add_argument("--near", type=float, nargs=3, metavar=("X", "Y", "Z"), help="a place, m")
    query.add_argument("--radius", type=float, metavar="M", help="around that place, m")
    for relation in ("on", "in", "next-to"):
        query.add_argument(f"--{relation}", metavar="ID", help=f"what is {relation.replace('-', ' ')} this object")
    query.add_argument("--limit", type=positive, default=20, help="most results (default 20)")
    query.add_argument("--json", action="store_true", help="as JSON, a line each")
    for action in (show, query):
        action.add_argument(
            "--embedding",
            default="offline",
            metavar="NAME",
            help="compares the text: offline (default), none, a folder with an ONNX model, or "
            "hub:OWNER/NAME@REVISION#SHA256",
        )
    query.set_defaults(run=_query)
    for action, run, text in ((export, _export, "to write"), (taken, _import, "to read")):
        action.add_argument("file", type=Path, help=text)
        action.add_argument("--format", choices=_FORMS, default="", help="(default: by the ending of the file)")
        action.set_defaults(run=run)
    taken.add_argument("--replace", action="store_true", help="replace a map of the same name")
    add_way_actions(actions, _map)
    repair = actions.add_parser("repair", help="leave out what is damaged in a store; the file as it was is kept")
    former = actions.add_parser("mend")  # its name of before; the help does not show it
    for action in (repair, former):
        action.add_argument("store", type=Path, help="file of the memory")
        action.set_defaults(run=_repair)


def _build(options: argparse.Namespace) -> None:
    from kc_vla.cli.memory_build import build  # heavy imports only for what needs them

    build(options)


def _opened(options: argparse.Namespace) -> Store:
    from kc_vla.memory.long_term.store import Store  # heavy imports only for what needs them

    return Store(options.store, read_only=True)


def _map(memory: LongTermMemory, options: argparse.Namespace) -> str:
    known = memory.maps()
    if options.map in known:
        return str(options.map)
    if len(known) == 1 and not options.map:
        return known[0]
    if not known:
        raise _MapError(f"{options.store} holds no map yet: build one, or import one")
    told = ", ".join(map(repr, known))
    wanted = f"no map {options.map!r}" if options.map else "not just one map"
    raise _MapError(f"{options.store} has {wanted}: name one with --map; there are {told}")


def _apart(options: argparse.Namespace, file: Path) -> None:
    """Check that the output file is neither the store itself nor a file that SQLite or the lock keeps beside it."""
    own = {f"{options.store.resolve()}{end}" for end in ("", "-wal", "-shm", "-journal", ".lock")}
    if str(file.resolve()) in own:
        raise _MapError(f"{file} is the memory itself, or a part of it: name another file to write")


def _show(options: argparse.Namespace) -> None:
    from kc_vla.cli.memory_query import embed_of
    from kc_vla.memory.long_term.memory import LongTermMemory

    if options.png is not None:
        _apart(options, options.png)

    with _opened(options) as store:
        memory = LongTermMemory(store, embed=embed_of(options, options.text))
        map_id = _map(memory, options)
        if options.png is not None:  # first: whoever reads the text may stop before its end
            from kc_vla.memory.long_term.plot import draw_graph

            draw_graph(memory.graph(map_id), options.png)
        print(memory.describe(map_id, options.budget, options.text).text or f"map {map_id!r} is empty")
        if options.png is not None:
            print(f"{options.png}: the graph from above")


def _ask(options: argparse.Namespace) -> None:
    from kc_vla.memory.long_term.memory import LongTermMemory

    with _opened(options) as store:
        memory = LongTermMemory(store)
        print_answer(memory, _map(memory, options), options)


def _repair(options: argparse.Namespace) -> None:
    from kc_vla.memory.long_term.store import Store

    if options.action == "mend":
        deprecated("kc-vla memory mend is called kc-vla memory repair")
    if not options.store.exists():
        raise _MapError(f"there is no {options.store}")
    with Store(options.store) as store:
        for map_id in store.maps():
            store.load(map_id)  # which looks at every row
        print(store.mended or f"{options.store}: nothing is damaged")


def _keyframes(options: argparse.Namespace) -> None:
    from kc_vla.memory.long_term.memory import LongTermMemory

    with _opened(options) as store:
        memory = LongTermMemory(store)
        for line in keyframe_lines(memory.linked(_map(memory, options)), options.object):
            print(line)


def _query(options: argparse.Namespace) -> None:
    from kc_vla.cli.memory_query import answer_lines, embed_of, query_of
    from kc_vla.memory.long_term.errors import told
    from kc_vla.memory.long_term.memory import LongTermMemory

    query = query_of(options)
    with _opened(options) as store:
        memory = LongTermMemory(store, embed=embed_of(options, query.text))
        map_id = _map(memory, options)
        answer = memory.answer(map_id, query)
    for line in answer_lines(answer, query, options.json):
        print(line)
    if not answer.found:
        note = f": {answer.note}" if answer.note else ""
        print(f"map {told(map_id)} has nothing that fits{note}", file=sys.stderr)


def _export(options: argparse.Namespace) -> None:
    from kc_vla.memory.long_term.exchange import form_of
    from kc_vla.memory.long_term.memory import LongTermMemory

    form = form_of(options.file, options.format)
    _apart(options, options.file)
    with _opened(options) as store:
        memory = LongTermMemory(store)
        graph = memory.graph(_map(memory, options))
        form.write(graph, options.file)
    print(f"{options.file}: {len(graph.floors)} floors, {len(graph.areas)} areas, {len(graph.objects)} objects")


def _import(options: argparse.Namespace) -> None:
    from kc_vla.memory.long_term.exchange import form_of
    from kc_vla.memory.long_term.memory import LongTermMemory
    from kc_vla.memory.long_term.store import Store

    graph = form_of(options.file, options.format).read(options.file, options.map)
    with Store(options.store) as store:
        LongTermMemory(store).take(graph, options.replace)
        if store.mended:
            print(store.mended)
    print(f"{options.store}: map {graph.map_id!r} with {len(graph.areas)} areas and {len(graph.objects)} objects")
