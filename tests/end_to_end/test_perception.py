"""The memories on an emulated Piper, filled by drawn depth cameras and an external detector."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from box_scene import on_table
from seen_desk import BOXES, PIPER, Desk
from stack import PIPER as LAUNCH_FILE
from stack import Stack

from kc_vla.core import topics
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla_msgs.srv import MemoryStatistics, QueryScene

DRIVER = "/drawn/"
MUG = on_table("mug", 0.3, 0.05, (0.08, 0.08, 0.1))
BOWL = on_table("bowl", 0.38, -0.12, (0.14, 0.14, 0.07))


def cameras(folder: Path) -> Path:
    """A file for `cameras:=` with the topics of a driver."""
    lines = [
        f"{view}: {{topic: {DRIVER}{topics.image_topic(view)}, info: {DRIVER}{topics.camera_info_topic(view)}, "
        f"depth: {DRIVER}{topics.depth_topic(view)}}}\n"
        for view in PIPER.views
    ]
    file = folder / "desk.yaml"
    file.write_text("".join(lines))
    return file


@pytest.mark.nightly  # its links: test_nodes_perception.py, tests/launch_files/test_detector.py
def test_cameras_and_a_foreign_detector_fill_both_memories_of_a_piper(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    asked = {
        "arm": "emulated",
        "memory": "both",
        "memory_store": store,
        "map_id": "desk",
        "cameras": cameras(tmp_path),
        "detector": "vision_msgs",
        "detector_options": f"{{boxes: [{BOXES}]}}",
    }
    desk = Desk([MUG, BOWL], driver=DRIVER)
    with Stack(tmp_path, asked, launch_file=LAUNCH_FILE) as stack, desk:
        stack.wait_for("map 'desk' has 0 areas and 0 objects")

        def remembered() -> bool:
            for _ in range(20):
                desk.see()
                desk.rest(0.05)
            scene = desk.call(QueryScene, topics.QUERY_SCENE, QueryScene.Request())
            held = desk.call(MemoryStatistics, topics.MEMORY_STATISTICS, MemoryStatistics.Request()).held
            return (
                {each.object_type for each in scene.objects}
                == {each.object_type for each in held.units}
                == {
                    "mug",
                    "bowl",
                }
            )

        desk.until(remembered)
        stack.press_ctrl_c()
        assert stack.finish() == 0, stack.tail()
    with Store(store, read_only=True) as opened:
        known = {each.object_type: each.position for each in LongTermMemory(opened).objects("desk")}
    assert math.dist(known["mug"], MUG.position) < 0.03
    assert math.dist(known["bowl"], BOWL.position) < 0.03
