"""The light copy of a robot description."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import trimesh

from kc_vla_sim.errors import MeshCacheError
from kc_vla_sim.robots.light_meshes import MOST_TRIANGLES, light_urdf

URDF = """<robot name="ball"><link name="ball">
  <visual><geometry><mesh filename="ball.stl"/></geometry></visual>
  <collision><geometry><mesh filename="ball.stl"/></geometry></collision>
</link></robot>"""


@pytest.fixture
def ball(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a robot of one very round ball, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    trimesh.creation.icosphere(subdivisions=6, radius=0.1).export(tmp_path / "ball.stl")
    urdf = tmp_path / "ball.urdf"
    urdf.write_text(URDF)
    return urdf


def mesh(urdf: Path, kind: str) -> Path:
    return urdf.parent / ET.parse(urdf).find(f"./link/{kind}/geometry/mesh").attrib["filename"]


def test_the_visual_mesh_is_lighter_and_looks_the_same(ball: Path) -> None:
    before = trimesh.load_mesh(ball.parent / "ball.stl")
    after = trimesh.load_scene(mesh(light_urdf(ball), "visual")).to_mesh()
    assert len(before.faces) == 81920
    assert len(after.faces) <= 1.1 * MOST_TRIANGLES
    assert after.volume == pytest.approx(before.volume, rel=0.01)
    assert after.extents == pytest.approx(before.extents, rel=0.01)


def test_the_collision_mesh_is_the_original(ball: Path) -> None:
    assert mesh(light_urdf(ball), "collision") == ball.parent / "ball.stl"


def test_the_copy_is_made_once_and_again_when_the_mesh_changes(ball: Path) -> None:
    first = light_urdf(ball)
    made = first.stat().st_mtime_ns
    assert light_urdf(ball) == first
    assert first.stat().st_mtime_ns == made
    trimesh.creation.box((0.1, 0.1, 0.1)).export(ball.parent / "ball.stl")
    assert light_urdf(ball) != first
    assert [path.name for path in first.parent.parent.glob(".making-*")] == []


def test_a_cache_that_cannot_be_written_is_a_clear_error(
    ball: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(MeshCacheError, match="set XDG_CACHE_HOME to a folder that can be written"):
        light_urdf(ball)
