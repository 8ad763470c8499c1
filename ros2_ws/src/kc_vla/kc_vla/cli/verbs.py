"""The verbs of `kc-vla`: a new one is a module of this package and a line in `VERBS`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from kc_vla.cli.interrupts import INTERRUPTED
from kc_vla.core.extras import advice

SIMULATION = "simulation"
"""The module of the verbs that the simulator does."""


class Subcommand(NamedTuple):
    """A subcommand of `kc-vla`.

    Attributes:
        name: the first word of the command line.
        module: of this package; its `main` takes all words, also the first, and returns the exit status.
        text: what `kc-vla --help` says of it.
        kinds: what must follow the name where it has several meanings, each with its module.
        extras: what must be installed, by the word that follows the name; "" for any other word.
    """

    name: str
    module: str
    text: str
    kinds: Mapping[str, str] = MappingProxyType({})
    extras: Mapping[str, str] = MappingProxyType({})

    def main(self, words: Sequence[str]) -> int:
        """Run it. Its module is imported only here: some take a second."""
        kind = words[1] if len(words) > 1 else ""
        if self.kinds and kind not in self.kinds and (kind in ("-h", "--help") or not kind.startswith("-")):
            self._parser().parse_args(words[1:2])  # which tells what there is, and ends
        try:
            status: int = import_module(f"kc_vla.cli.{self.module_of(words)}").main(words)
        except ImportError as error:
            if not (line := advice(error, self.extras.get(kind, self.extras.get("", "")))):
                raise
            print(f"kc-vla {self.name}: {line}", file=sys.stderr)
            return 2
        return status

    def module_of(self, words: Sequence[str]) -> str:
        """Return the module that does what the command line asks for; all `words`, also the first."""
        return self.kinds.get(words[1] if len(words) > 1 else "", self.module)

    def _parser(self) -> argparse.ArgumentParser:
        """Return the parser that finds out which kind is meant."""
        helps = "\n".join(f"  kc-vla {self.name} {kind} --help" for kind in self.kinds)
        parser = argparse.ArgumentParser(
            prog=f"kc-vla {self.name}",
            description=self.text,
            epilog=helps,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("kind", choices=tuple(self.kinds), metavar="|".join(self.kinds), help="then its options:")
        return parser


VERBS = (
    Subcommand("report", "report", "video, contact sheet and summary of a recorded episode; or the page of a run"),
    Subcommand("rerun", "rerun", "a recorded episode as a file of Rerun's viewer: kc-vla rerun export --help"),
    Subcommand("bag", "bag", "look into recorded bags, check, cut, merge them, make torn ones whole"),
    Subcommand("sim", SIMULATION, "film, check and measure the simulated tasks: kc-vla sim --help", extras={"": "sim"}),
    Subcommand(
        "train",
        "learning",
        "train a keyframe selector, a policy, or a detector of objects",
        {"selector": "learning", "policy": "policy", "detector": "detector"},
    ),
    Subcommand(
        "export",
        "learning",
        "make ONNX files of a trained selector, policy or detector, or of one of LeRobot's policies",
        {"selector": "learning", "policy": "policy", "act": "act", "detector": "detector"},
    ),
    Subcommand("tune", "learning", "choose the thresholds of a selector anew", {"selector": "learning"}),
    Subcommand(
        "eval",
        "learning",
        "measure a selector, a policy, a detector, perception, skills, a memory, a household's planner or a kitchen",
        {
            "detector": "detector",
            **dict.fromkeys(("selector", "rules", "events"), "learning"),
            **dict.fromkeys(
                (
                    *("policy", "table1", "table3", "household", "virtualhome", "ask", "episodic", "perception"),
                    *("skills", "kitchen"),
                ),
                SIMULATION,
            ),
            "recall": "recall",
            "search": "search",
            "replacement": "memory",
        },
        {"policy": "sim", "episodic": "sim", **dict.fromkeys(("table1", "table3"), "sim,train")},
    ),
    Subcommand(
        "memory", "scene_graph", "look into a long-term memory, export and import its maps: kc-vla memory --help"
    ),
    Subcommand(
        "annotate",
        "learning",
        "mark keyframes of recorded episodes, on a page or by rules",
        {"page": "annotate", "rules": "learning"},
    ),
    Subcommand("calibrate", "calibrate", "cameras, hand-eye, joint offsets, latency: kc-vla calibrate --help"),
    Subcommand("serve", "serve", "serve a learned policy to clients of openpi or GR00T: kc-vla serve policy --help"),
    Subcommand("robot", "robot", "look at a robot file, or write one from a file of rigs/: kc-vla robot --help"),
    Subcommand("doctor", "doctor", "look at this machine: ROS 2, CAN, cameras, GPU, models, real time, ports ..."),
    Subcommand(
        "setup", "setup", "make CAN, a camera's name or real time ready: kc-vla setup can|camera|realtime --help"
    ),
    Subcommand(
        "collect", SIMULATION, "record data sets of the experts' episodes: kc-vla collect --help", extras={"": "sim"}
    ),
)
"""In the order of the help."""

Arguments = Callable[[argparse.ArgumentParser], None]


def main_parser(name: str = "", add_arguments: Arguments | None = None) -> argparse.ArgumentParser:
    """Return the parser of `kc-vla`, with the arguments of the subcommand called `name`."""
    parser = argparse.ArgumentParser(prog="kc-vla", description="Tools of the kc_vla robot stack.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
    for verb in VERBS:
        of_verb = verbs.add_parser(verb.name, help=verb.text)
        if verb.name == name and add_arguments is not None:
            add_arguments(of_verb)
    return parser


def exit_status(name: str, work: Callable[[], None], *failures: type[Exception], interrupted: str = "") -> int:
    """Run the subcommand called `name`; return 0, 1 for a failure shown in a line, `INTERRUPTED` after Ctrl-C.

    Args:
        name: name of the command, at the beginning of each error.
        work: may raise anything; what is neither of `failures` nor an `OSError` is raised on.
        failures: exceptions whose text says what is wrong and what to do.
        interrupted: text after Ctrl-C, in place of the usual one.
    """
    told: tuple[type[Exception], ...] = (*failures, OSError)
    try:
        work()
    except told as error:
        print(f"kc-vla {name}: {_told(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(interrupted or f"kc-vla {name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _told(error: Exception) -> str:
    """Return what went wrong, a system's error without its number."""
    if isinstance(error, OSError) and error.filename is not None and error.filename2 is None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
