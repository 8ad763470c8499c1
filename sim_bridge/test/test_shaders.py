"""The shaders draw what ManiSkill's own draw, without the table that costs seconds before the first image."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest

from kc_vla_sim.errors import RendererError
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.shaders import camera_shader, without_reflection_table


def pictures(**sensor_configs: object) -> dict[str, np.ndarray]:
    """Draw the first frame of a seed."""
    env = gymnasium.make(
        "PushCubeWithSignal-v1",
        obs_mode="none",
        reward_mode="none",
        render_backend=choose_renderer(),
        sensor_configs={"width": 64, "height": 64, **sensor_configs},
    )
    try:
        env.reset(seed=5)
        return env.unwrapped.pictures()
    finally:
        env.close()


@pytest.mark.nightly
def test_pictures_are_those_of_the_shaders_that_they_come_from() -> None:
    ours, stock = pictures(), pictures(shader_pack="minimal")
    assert ours.keys() == stock.keys()
    for camera, picture in ours.items():
        assert picture.std() > 5  # something is drawn
        np.testing.assert_array_equal(picture, stock[camera])


def test_no_shader_asks_for_the_reflection_table() -> None:
    folder = Path(camera_shader().shader_pack)
    sources = [path.read_text() for path in folder.iterdir()]
    assert sources
    assert not any("samplerBRDFLUT" in text for text in sources)


def test_the_rest_of_a_shader_stays_as_it_is() -> None:
    source = (
        "uniform sampler2D colour;\nlayout(set = 3, binding = 8) uniform sampler2D samplerBRDFLUT;\nvoid main() {}\n"
    )
    assert without_reflection_table(source) == "uniform sampler2D colour;\n\nvoid main() {}\n"


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    with pytest.raises(RendererError, match="XDG_CACHE_HOME"):
        camera_shader()
