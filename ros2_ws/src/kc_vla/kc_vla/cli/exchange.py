"""`kc-vla bag export` and `kc-vla bag import`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from kc_vla.datasets.exchange.origin import Origin

_MOST_FPS = 1000


def add_export(actions: Any) -> None:
    """Add `export` to the actions of `kc-vla bag`."""
    text = "annotated bags into a LeRobot data set"
    export = actions.add_parser("export", help=text, description=f"{text[0].upper()}{text[1:]}.")
    export.add_argument("bags", nargs="+", type=Path, metavar="bag", help="bag, or folder with bags in it")
    export.add_argument("--output", type=Path, required=True, help="folder of the data set")
    formats = ("lerobot-v3", "lerobot-v2.1")
    text = f"version of LeRobot's format: 3.0, or 2.1 for GR00T ({formats[0]})"
    export.add_argument("--format", choices=formats, default=formats[0], help=text)
    export.add_argument("--name", help="name of the data set, if the output folder is for several")
    export.add_argument(
        "--keyframes",
        choices=[origin.value for origin in Origin],
        default=Origin.CONFIRMED.value,
        help="confirmed by a person, committed: by the live selector, oracle: the simulator's, or none (confirmed)",
    )
    export.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> None:
    from kc_vla.datasets.exchange.bags import find_bags
    from kc_vla.datasets.exchange.export import export_bags

    folder = arguments.output / arguments.name if arguments.name else arguments.output
    done = export_bags(find_bags(arguments.bags), folder, arguments.format, Origin(arguments.keyframes))
    for note in done.notes:
        print(note)
    print(f"{done.folder}: {done.episodes} episodes, {done.frames} frames")


def add_import(actions: Any) -> None:
    """Add `import` to the actions of `kc-vla bag`."""
    text = "LeRobot data sets, videos, or bags of other stacks into episode bags"
    action = actions.add_parser("import", help=text, description=f"{text}.")
    action.add_argument("sources", nargs="*", type=Path, metavar="source", help="data set, bag, or folder of bags")
    action.add_argument("--output", type=Path, required=True, help="folder for the episodes")
    action.add_argument("--task", help="name of the task (default: by its instruction)")
    action.add_argument("--instruction", default="", help="instruction in words (default: the source's, or the task's)")
    action.add_argument("--name", help="name of the episode, if there is only one")
    text = "view NAME from X: a video, or the key of a camera in a data set; may be repeated"
    action.add_argument("--view", metavar="NAME=X", action="append", default=[], help=text)
    action.add_argument("--third-person", metavar="X", help="the same as --view third_person=X")
    action.add_argument("--wrist", metavar="X", help="the same as --view wrist=X")
    action.add_argument("--joints", type=Path, metavar="CSV", help="beside videos: time in s, then the joints")
    action.add_argument(
        "--topics",
        type=Path,
        metavar="YAML",
        help="for bags: YAML file that maps the stack's topics to those of the bag",
    )
    text = "of bags: number of the {} picture of the first view to import, from 0 on (default: all)"
    action.add_argument("--from", dest="first", type=int, metavar="N", help=text.format("first"))
    action.add_argument("--to", dest="last", type=int, metavar="N", help=text.format("last"))
    action.add_argument(
        "--rate", type=float, metavar="FPS", help="true frame rate of a data set that states a wrong one"
    )
    names = "names of the numbers of a data set's {}, if the data set has none, e.g. {}"
    pose, delta = "x,y,z,qx,qy,qz,qw,gripper", "dx,dy,dz,rx,ry,rz,gripper"
    action.add_argument("--state", metavar="NAMES", help=names.format("state", pose))
    action.add_argument("--action", metavar="NAMES", dest="action_names", help=names.format("action", delta))
    text = "m and rad for which the number 1 stands in a data set's normalized tool deltas, such as 0.1,-0.1 (1,1)"
    action.add_argument("--delta-units", metavar="M,RAD", help=text)
    text = "numbers of a closed and an open gripper in a data set's tool deltas, as --gripper=-1,1 (0,1)"
    action.add_argument("--gripper", metavar="CLOSED,OPEN", help=text)
    action.add_argument(
        "--degrees", action="store_true", help="the joints of a data set, except the gripper, are in degrees"
    )
    action.add_argument(
        "--jpeg-quality", type=int, default=95, help="JPEG quality of images from videos, 1 to 100 (95)"
    )
    action.add_argument(
        "--raw", action="store_true", help="store images uncompressed, for nodes that read only raw images; large"
    )
    action.set_defaults(run=_import)


def _import(arguments: argparse.Namespace) -> None:
    from kc_vla.datasets.exchange.bag_output import RAW
    from kc_vla.datasets.exchange.errors import ExchangeError

    if not 1 <= arguments.jpeg_quality <= 100:
        raise ExchangeError(f"--jpeg-quality {arguments.jpeg_quality}: from 1 to 100")
    if arguments.raw:
        arguments.jpeg_quality = RAW
    sets = [path for path in arguments.sources if (path / "meta" / "info.json").exists()]
    of_sets = {
        "--rate": arguments.rate,
        "--state": arguments.state,
        "--action": arguments.action_names,
        "--degrees": arguments.degrees or None,
        "--delta-units": arguments.delta_units,
        "--gripper": arguments.gripper,
    }
    if not sets and (given := [option for option, value in of_sets.items() if value is not None]):
        raise ExchangeError(f"{given[0]} is for LeRobot data sets: bags and videos tell their own times and names")
    if arguments.rate is not None and not 0 < arguments.rate <= _MOST_FPS:
        raise ExchangeError(f"--rate {arguments.rate:g}: frames a second, above 0 and at most {_MOST_FPS}")
    cut = arguments.first is not None or arguments.last is not None
    if cut and (sets or not arguments.sources):
        raise ExchangeError("--from and --to are for bags: of a data set or a video all frames are imported")
    if not arguments.sources:
        done = [_import_videos(arguments)]
    elif len(sets) == len(arguments.sources):
        done = [_import_data_set(path, arguments) for path in sets]
    elif arguments.topics is not None:
        done = [_import_bags(arguments)]
    else:
        other = next(path for path in arguments.sources if path not in sets)
        raise ExchangeError(f"{other} is no LeRobot data set (no meta/info.json); for bags, say which topics: --topics")
    for result in done:
        for note in result.notes:
            print(note)
        print(f"{len(result.folders)} episodes, {result.frames} new frames: {result.folders[0].parent}")


def _named(arguments: argparse.Namespace) -> dict[str, str]:
    """Return what is said to be the camera of a view, by view, in their usual order."""
    from kc_vla.core.views import checked_views, in_usual_order
    from kc_vla.datasets.exchange.errors import ExchangeError

    usual = {"third_person": arguments.third_person, "wrist": arguments.wrist}
    named = {view: given for view, given in usual.items() if given}
    for text in arguments.view:
        view, _, given = text.partition("=")
        try:
            checked_views([view])
        except ValueError as error:
            raise ExchangeError(f"--view {text}: {error}") from error
        if not given or view in named:
            raise ExchangeError(f"--view {text}: {'named twice' if given else 'write NAME=X'}")
        named[view] = given
    return {view: named[view] for view in in_usual_order(named)}


def _import_videos(arguments: argparse.Namespace) -> Any:
    from kc_vla.datasets.exchange.errors import ExchangeError
    from kc_vla.datasets.exchange.from_videos import Videos, import_videos

    if not (named := _named(arguments)):
        raise ExchangeError("nothing to import: give a data set, bags with --topics, or a video with --third-person")
    videos = Videos(
        {view: Path(film) for view, film in named.items()},
        arguments.joints,
        arguments.task,
        arguments.instruction,
        arguments.name,
        arguments.jpeg_quality,
    )
    return import_videos(videos, arguments.output)


def _import_data_set(folder: Path, arguments: argparse.Namespace) -> Any:
    from kc_vla.datasets.exchange.delta_units import said_units
    from kc_vla.datasets.exchange.from_data_set import Wanted, import_data_set
    from kc_vla.datasets.exchange.meanings import said_names

    cameras = tuple(_named(arguments).items())
    wanted = Wanted(
        arguments.task,
        arguments.instruction,
        cameras,
        arguments.jpeg_quality,
        arguments.rate or 0.0,
        said_names(arguments.state, "--state") if arguments.state is not None else (),
        said_names(arguments.action_names, "--action") if arguments.action_names is not None else (),
        arguments.degrees,
        said_units(arguments.delta_units, arguments.gripper),
    )
    return import_data_set(folder, arguments.output, wanted)


def _import_bags(arguments: argparse.Namespace) -> Any:
    from kc_vla.datasets.exchange.bags import find_bags
    from kc_vla.datasets.exchange.errors import ExchangeError
    from kc_vla.datasets.exchange.from_bags import Asked, import_bags
    from kc_vla.datasets.exchange.topic_map import read_topic_map

    bags = find_bags(arguments.sources)
    if (arguments.first is not None or arguments.last is not None) and len(bags) > 1:
        raise ExchangeError(f"--from and --to for {len(bags)} bags: import them one by one")
    topics = read_topic_map(arguments.topics)
    asked = Asked(
        topics,
        arguments.task,
        arguments.instruction,
        arguments.name,
        arguments.raw,
        topics.joint_names,
        arguments.first,
        arguments.last,
    )
    return import_bags(bags, arguments.output, asked)
