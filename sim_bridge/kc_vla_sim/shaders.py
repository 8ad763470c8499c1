"""The shaders that draw the cameras' images: ManiSkill's minimal ones, without a table that nothing here needs.

Shaders that look up reflections of surroundings make SAPIEN integrate a reflection table before the first image,
which takes six seconds of a processor without a GPU, in every process. The tasks have no surroundings to reflect
(an environment map), so the table only ever scales black. The edited copy lives in the user's cache.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import sapien
from mani_skill.render.shaders import PREBUILT_SHADER_CONFIGS, ShaderConfig

from kc_vla.core.files import digest
from kc_vla_sim.errors import RendererError
from kc_vla_sim.robots.light_meshes import cache_folder

_SHIPPED = Path(sapien.__file__).parent / "vulkan_shader"
_BASE = "minimal"
_DECLARATION = re.compile(r"^layout\(set = \d, binding = 8\) uniform sampler2D samplerBRDFLUT;$", re.MULTILINE)
_LOOK_UP = re.compile(r"texture\(samplerBRDFLUT, [^;]*\)\.xy;")


def camera_shader() -> ShaderConfig:
    """Return the shaders for a `CameraConfig`, made if they are not in the cache.

    Raises:
        RendererError: the cache folder cannot be written.
    """
    sources = {path.name: path.read_text() for path in sorted((_SHIPPED / _BASE).iterdir())}
    edited = {name: without_reflection_table(text) for name, text in sources.items()}
    key = digest(repr((sapien.__version__, edited)))
    pack = cache_folder().parent / "shaders" / key
    if not pack.exists():
        try:
            _make(edited, pack)
        except OSError as error:
            raise RendererError(
                f"cannot store the shaders in {pack}: {error.strerror or error}; "
                "free some space or set XDG_CACHE_HOME to a folder that can be written"
            ) from error
    return replace(PREBUILT_SHADER_CONFIGS[_BASE], shader_pack=str(pack / _BASE))


def set_picture_formats() -> None:
    """Give SAPIEN the pixel formats of these shaders, as ManiSkill does for those that it knows by name."""
    sapien.render.set_picture_format("Color", "r8g8b8a8unorm")
    sapien.render.set_picture_format("ColorRaw", "r8g8b8a8unorm")
    sapien.render.set_picture_format("PositionSegmentation", "r16g16b16a16sint")


def without_reflection_table(source: str) -> str:
    """Return a shader's source without the reflection table."""
    return _LOOK_UP.sub("vec2(1, 0);", _DECLARATION.sub("", source))


def _make(edited: dict[str, str], pack: Path) -> None:
    """Write the shaders into `pack`, complete or not at all: several processes may do so at once."""
    pack.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=pack.parent, prefix=".making-") as work:
        made = Path(work) / "finished"
        shutil.copytree(_SHIPPED / "common", made / "common")  # included by relative path
        (made / _BASE).mkdir()
        for name, text in edited.items():
            (made / _BASE / name).write_text(text)
        try:
            made.rename(pack)
        except OSError:
            if not pack.exists():  # otherwise another process was first, with the same content
                raise
