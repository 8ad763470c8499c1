"""The node of the live map of a home, a process of its own."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Time
from node_process import Peer, running
from std_msgs.msg import Header

from kc_vla.core import topics
from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.store import CropStore
from kc_vla.ros import qos
from kc_vla_msgs.msg import MemoryUnit, MemoryUnits


def fetched(port: str, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
        return bytes(answer.read())


def test_it_shows_the_crops_that_the_short_term_memory_reports(tmp_path: Path) -> None:
    folder, log = tmp_path / "crops", tmp_path / "log"
    reference = CropStore(folder).put("Mug_1", np.full((60, 80, 3), 99, np.uint8), PixelBox(0, 0, 60, 40), 1.0)
    with Peer() as memory, running("kc_vla_sim.nodes.home_page", log, port=0, crops=folder):
        found = memory.until(lambda: re.search(r"localhost:(\d+)", log.read_text()))
        units = memory.node.create_publisher(MemoryUnits, topics.SHORT_TERM_UNITS, qos.STATUS)
        mug = MemoryUnit(header=Header(stamp=Time(sec=1)), object_id="Mug_1", object_type="Mug", image=reference)
        units.publish(MemoryUnits(units=[mug]))

        def shown() -> list[dict[str, object]]:
            crops = json.loads(fetched(found[1], "api/home")).get("crops") or {}
            return list(crops.get("units", ()))

        (row,) = memory.until(shown)
        assert (row["id"], row["image"]) == ("Mug_1", Path(reference).name)
        assert fetched(found[1], f"api/crop/{row['image']}").startswith(b"\xff\xd8\xff")
