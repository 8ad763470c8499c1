"""How large a camera's images may be."""

from __future__ import annotations

from kc_vla_sim.errors import BadImageSizeError

LARGEST_IMAGE = 4096
"""px of a side."""


def image_size_of(size: int | tuple[int, int]) -> tuple[int, int]:
    """Return the width and height, or a `BadImageSizeError`."""
    pair = size if isinstance(size, tuple) else (size, size)
    if len(pair) == 2 and all(type(side) is int and 1 <= side <= LARGEST_IMAGE for side in pair):
        return pair
    raise BadImageSizeError(
        f"bad image size {size!r}: give one whole number from 1 to {LARGEST_IMAGE}, or (width, height)"
    )
