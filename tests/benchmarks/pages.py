"""Browsers that have the live page open, as far as it notices: they take what it tells and say that they drew it.

The last one takes nothing if it is to be stalled. Writes, when interrupted, how many pictures a second each got.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from pathlib import Path

from tests.support.live_client import hear, open_page

_PATIENCE_S = 30.0


def main() -> None:
    """Open the pages, and look until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="JSON: pictures a second of each page")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--number", type=int, required=True, help="of pages")
    parser.add_argument("--stalled", type=int, default=0, help="of them that take nothing")
    options = parser.parse_args()
    os.nice(19)  # a robot's page is open on somebody's phone or desk, whose work is none of this machine's
    counts = [0] * options.number
    first, last = [0.0] * options.number, [0.0] * options.number

    def look(place: int) -> None:
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                page = open_page(options.port)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
        if place >= options.number - options.stalled:
            time.sleep(3600)
        while True:
            found = len(hear(page)[1])
            if not found:
                continue
            last[place] = time.monotonic()
            if first[place]:
                counts[place] += found
            else:
                first[place] = last[place]  # from here on there is something to be seen

    for place in range(options.number):
        threading.Thread(target=look, args=(place,), daemon=True).start()
    try:
        time.sleep(3600)
    except KeyboardInterrupt:
        times = zip(counts, first, last, strict=True)
        options.output.write_text(
            json.dumps([count / (to - begin) if to > begin else 0.0 for count, begin, to in times])
        )


if __name__ == "__main__":
    main()
