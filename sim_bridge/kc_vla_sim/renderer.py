"""Which device draws the images: a GPU when there is one, software Vulkan otherwise.

SAPIEN ends the whole process, or prints a page of driver errors, when it starts to draw without a usable Vulkan
driver. Everything that draws asks here first.
"""

from __future__ import annotations

import re

import sapien

from kc_vla_sim.errors import RendererError

RENDERERS = ("auto", "gpu", "cpu")
_NO_VULKAN = (
    "no usable Vulkan driver: run ./setup.sh, which installs one, or install the system's mesa-vulkan-drivers "
    "(Mesa 25 or newer, no GPU needed)"
)


def choose_renderer(name: str = "auto") -> str:
    """Return ManiSkill's `render_backend` for `name`, one of `RENDERERS`.

    Raises:
        RendererError: `name` is unknown, the GPU asked for is missing, or no Vulkan driver can be used.
    """
    if name not in RENDERERS:
        raise RendererError(f"unknown renderer '{name}': choose one of {', '.join(RENDERERS)}")
    _require_vulkan()
    if name == "cpu":
        return "sapien_cpu"
    if _has_gpu():
        return "sapien_cuda"
    if name == "gpu":
        raise RendererError("no GPU that can draw was found: use renderer 'auto' or 'cpu'")
    return "sapien_cpu"


def _require_vulkan() -> None:
    """Raise `RendererError` unless some device has a Vulkan driver with all that SAPIEN needs."""
    try:
        summary = sapien.render.get_device_summary()
    except RuntimeError as error:  # no driver at all, or only one that lacks a required feature
        raise RendererError(_NO_VULKAN) from error
    if not re.search(r"Supported:\s*1", summary):
        raise RendererError(_NO_VULKAN)


def _has_gpu() -> bool:
    """Return whether SAPIEN finds a CUDA device that can draw."""
    try:
        return bool(sapien.Device("cuda").can_render())
    except RuntimeError:  # SAPIEN's way of saying that there is no such device
        return False
