"""Runs benchmarks, prints a Markdown table for each, and writes it with its figures as JSON into a folder."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from . import (
    annotate,
    bags,
    camera,
    chunk,
    crops,
    handover,
    jitter,
    launch,
    memory,
    memory_nodes,
    motion,
    piper,
    planned_arm,
    policy,
    policy_servers,
    reach,
    reaction,
    recall,
    safety,
    scene_graph,
    selector,
    viewer,
)
from .measuring import MeasurementError, machine
from .processes import own_domain

BENCHMARKS = {
    "annotate": annotate.measure,
    "bags": bags.measure,
    "camera": camera.measure,
    "chunk": chunk.measure,
    "crops": crops.measure,
    "handover": handover.measure,
    "jitter": jitter.measure,
    "launch": launch.measure,
    "memory": memory.measure,
    "memory_nodes": memory_nodes.measure,
    "motion": motion.measure,
    "piper": piper.measure,
    "planned_arm": planned_arm.measure,
    "policy": policy.measure,
    "policy_servers": policy_servers.measure,
    "reach": reach.measure,
    "reaction": reaction.measure,
    "recall": recall.measure,
    "safety": safety.measure,
    "scene_graph": scene_graph.measure,
    "selector": selector.measure,
    "viewer": viewer.measure,
}


def main() -> int:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="short runs, about 6 minutes for all of them")
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks"), help="folder (default runs/benchmarks)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}: choose from {', '.join(BENCHMARKS)}")
    # A shell that runs this in the background has it ignore interrupts, and with it every process that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    print(", ".join(f"{key} {value}" for key, value in machine().items()) + "\n", flush=True)
    failed = False
    for name in options.names or BENCHMARKS:
        with own_domain(), tempfile.TemporaryDirectory(prefix=f"kc_vla-{name}-") as work:
            try:
                table = BENCHMARKS[name](options.quick, Path(work))
            except MeasurementError as error:
                for log in sorted(Path(work).rglob("*.log")):
                    sys.stderr.write(log.read_text(errors="replace")[-4000:])
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
        table.write(options.output, name)
        print(table.markdown(), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
