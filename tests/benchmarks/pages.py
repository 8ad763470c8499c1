"""Browsers that have the live page open, as far as it notices: they take what it tells and say that they drew it.

They come and go: for a spell none is open, for the next all are. The last one takes nothing if it is to be stalled.
Writes, when interrupted, when they were open, and when each got a picture.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from tests.support.live_client import hear, open_page

_PATIENCE_S = 30.0
_POLL_S = 0.2


class Looking:
    """What one page gets, in a thread of its own."""

    def __init__(self, port: int, takes: bool) -> None:
        """Open it, as soon as the server is there."""
        self.seen: list[int] = []
        """Of each picture when it came, ns since the epoch."""
        self._takes = takes
        self._page = open_page(port)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while self._takes:
            try:
                _, jpegs = hear(self._page)
            except ConnectionClosed:
                return
            self.seen += [time.time_ns()] * len(jpegs)

    def close(self) -> None:
        """Leave."""
        self._page.close()
        self._thread.join()


def main() -> None:
    """Open and close the pages until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="JSON: spells, and pictures of each page in them")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--number", type=int, required=True, help="of pages")
    parser.add_argument("--stalled", type=int, default=0, help="of them that take nothing")
    parser.add_argument("--spell", type=float, required=True, help="s that they are closed, and then open, in turns")
    options = parser.parse_args()
    os.nice(19)  # a robot's page is open on somebody's phone or desk, whose work is none of this machine's
    _wait_for(options.port)
    spells: list[dict[str, object]] = []
    try:
        while True:
            for number in (0, options.number):
                began = time.time_ns()
                pages = [Looking(options.port, n < number - options.stalled) for n in range(number)]
                time.sleep(options.spell)
                ended = time.time_ns()
                spells.append({"open": bool(number), "from": began, "to": ended, "seen": [p.seen for p in pages]})
                for page in pages:
                    page.close()
    except KeyboardInterrupt:
        options.output.write_text(json.dumps(spells))


def _wait_for(port: int) -> None:
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            open_page(port).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(_POLL_S)


if __name__ == "__main__":
    main()
