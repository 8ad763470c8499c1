"""`kc-vla bag export` and `kc-vla bag import`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from kc_vla.bags.exchange.origin import Origin


def add_export(actions: Any) -> None:
    """Add `export` to the actions of `kc-vla bag`."""
    text = "annotated bags into a LeRobot data set"
    export = actions.add_parser("export", help=text, description=f"{text[0].upper()}{text[1:]}.")
    export.add_argument("bags", nargs="+", type=Path, metavar="bag", help="bag, or folder with bags in it")
    export.add_argument("--output", type=Path, required=True, help="folder for the data set")
    formats = ("lerobot-v2.1", "lerobot-v3")
    export.add_argument("--format", choices=formats, default=formats[0], help=f"({formats[0]})")
    export.add_argument("--name", help="of the data set in the output folder (default: the task)")
    export.add_argument(
        "--keyframes",
        choices=[origin.value for origin in Origin],
        default=Origin.CONFIRMED.value,
        help="those confirmed on the annotation page, committed by the selector, or the simulator's (confirmed)",
    )
    export.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.exchange.bags import find_bags
    from kc_vla.bags.exchange.export import export_bags

    done = export_bags(
        find_bags(arguments.bags), arguments.output, arguments.format, arguments.name, Origin(arguments.keyframes)
    )
    for note in done.notes:
        print(note)
    print(f"{done.folder}: {done.episodes} episodes, {done.frames} frames")
