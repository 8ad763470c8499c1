"""A plain Python loop with absolute deadlines, the reference for the controller's; writes its period errors as JSON."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path


def main() -> None:
    """Loop until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="JSON: beats, ns of the steady clock")
    parser.add_argument("--rate", type=float, required=True, help="Hz")
    options = parser.parse_args()
    period_ns = round(1e9 / options.rate)
    beats: list[int] = []
    deadline = time.monotonic_ns()
    try:
        while True:
            deadline += period_ns
            time.sleep(max(0, deadline - time.monotonic_ns()) / 1e9)
            beats.append(time.monotonic_ns())
    except KeyboardInterrupt:
        options.output.write_text(json.dumps(beats))


if __name__ == "__main__":
    main()
