"""Crops of what the short-term memory holds, for the node of a page."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from kc_vla.core import topics
from kc_vla.memory.images.files import read_crop
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.web.crops import crops_part
from kc_vla_msgs.msg import MemoryUnits


def follow_crops(node: StackNode, folder: str, show: Callable[[dict[str, Any]], None]) -> Callable[[str], bytes] | None:
    """Show which crops there are whenever the short-term memory reports its units.

    Args:
        node: that has the page, while it starts.
        folder: of the crops; empty: none are shown.
        show: takes what the page shows, see `crops_part`.

    Returns:
        What reads a crop by its name, by any thread; None without a folder.
    """
    if not folder:
        return None

    def take(message: MemoryUnits) -> None:
        show(crops_part(message, time.monotonic()))

    node.subscribe(MemoryUnits, topics.SHORT_TERM_UNITS, take, qos.STATUS)
    return partial(read_crop, Path(folder).expanduser())
