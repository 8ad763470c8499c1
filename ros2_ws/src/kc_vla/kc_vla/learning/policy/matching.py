"""What stands out by its color in a keyframe, looked for in the present images.

A network that learns from hundreds of episodes hardly tells nine colors of small cubes apart in others. Here nothing of
color is learned: of every patch of an image the pixel is kept that is least like the rest of the image, of a keyframe
the color of the patch that is so most of all, and what of the present is most like that is found. What is learned is
which keyframe to ask for.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

PATCH = 4
"""Side of a patch, px."""
KEPT = 4
"""Numbers of what stands out most in a view of a keyframe: red, green, blue and how much it stands out."""
COLORS = 4 * KEPT
"""The same numbers of a map's cell of 2 x 2 patches."""
ASKED = 4
"""Colors that are looked for at a time."""
_NOISE = 25.0
"""Variance of a color besides that of the image, so that in an image of one color nothing stands out."""
_PEAK, _POINT = 24.0, 12.0
"""How sharply what stands out most is chosen, and the place that is most like it."""
_LIKE = 1.6
"""Logarithm of how quickly likeness falls with the distance of colors, to begin with."""


def colors(pictures: Tensor) -> Tensor:
    """Map images (N, 3, S, S), 0..255, to the colors of their patches (N, COLORS, S / 8, S / 8).

    How much a pixel stands out is its Mahalanobis distance from all pixels of its image.
    """
    n, _, size, _ = pictures.shape
    centred = pictures - pictures.mean((2, 3), keepdim=True)
    rows = centred.flatten(2)
    covariance = rows @ rows.transpose(1, 2) / (size * size)
    unlike = (rows * (_inverse(covariance) @ rows)).sum(1).view(n, 1, size, size)
    each = torch.cat([pictures / 128 - 1, torch.log1p(unlike) / 4], 1)
    side = size // PATCH
    patches = each.view(n, KEPT, side, PATCH, side, PATCH).permute(0, 1, 2, 4, 3, 5).flatten(4)
    most = patches[:, 3:].argmax(-1, keepdim=True).expand(-1, KEPT, -1, -1, -1)
    return functional.pixel_unshuffle(patches.gather(-1, most).squeeze(-1), 2)


def stand_out(maps: Tensor) -> Tensor:
    """Map the colors (N, V, COLORS, M, M) of a keyframe to what stands out most in each view (N, V KEPT)."""
    n, views = maps.shape[:2]
    patches = _patches(maps)
    shares = (_PEAK * patches[:, :, 3]).softmax(-1)
    return (patches * shares[:, :, None]).sum(-1).reshape(n, views * KEPT)


class Match(nn.Module):
    """Where the present images are most like what stood out in the keyframes that are asked for."""

    line: Tensor

    def __init__(self, slots: int, views: int, asked: int, side: int) -> None:
        """Make layers with fresh weights.

        Args:
            slots: of keyframes.
            views: number of cameras.
            asked: numbers that say what to ask for.
            side: of a map.
        """
        super().__init__()
        self.register_buffer("line", torch.linspace(-1, 1, 2 * side), persistent=False)
        self.ask = nn.Linear(asked + slots, ASKED * slots * views)
        self.sharp = nn.Parameter(torch.tensor(_LIKE))
        self.numbers = ASKED * views * 3

    def forward(self, kept: Tensor, present: Tensor, maps: Tensor, asked: Tensor) -> Tensor:
        """Return the places of the colors in the images.

        Which keyframe is asked for depends on how many there are, and on the task alone: of a few hundred episodes one
        that sees more learns each by heart.

        Args:
            kept: (N, slots, V KEPT), see `stand_out`.
            present: (N, slots) float, 1 where there is a keyframe.
            maps: (N, V, COLORS, M, M) of the current images.
            asked: (N, asked).

        Returns:
            (N, ASKED V 3): across and down, -1 to 1, and how like it is there, 0 to 1.
        """
        n, slots = present.shape
        views = maps.shape[1]
        wanted = kept.reshape(n, slots * views, KEPT)[..., :3]
        there = present.repeat_interleave(views, 1)
        places = _most_like(wanted, _patches(maps)[:, :, :3], self.line, self.sharp.exp()) * there[..., None]
        shares = self.ask(torch.cat([asked, present], 1)).view(n, ASKED, slots * views)
        shares = shares.masked_fill(there[:, None] == 0, -1e4).softmax(-1)
        return cast(Tensor, shares @ places).flatten(1)


def _most_like(wanted: Tensor, patches: Tensor, line: Tensor, sharp: Tensor) -> Tensor:
    """Return where each of W colors (N, W, 3) is in V views, of patches (N, V, 3, P): (N, W, V 3), see `Match`.

    `line` (sqrt P,) has the places of the patches of a row.
    """
    n, views, _, count = patches.shape
    found = patches.transpose(1, 2).flatten(2)  # (N, 3, V P)
    apart = (wanted * wanted).sum(-1)[..., None] - 2 * wanted @ found + (found * found).sum(1)[:, None]
    like = torch.exp(-sharp * apart).view(n, -1, views, count)
    shares = (_POINT * like).softmax(-1)
    grid = shares.view(n, -1, views, len(line), len(line))
    across, down = (grid.sum(3) * line).sum(-1), (grid.sum(4) * line).sum(-1)
    return torch.stack([across, down, (shares * like).sum(-1)], -1).flatten(2)


def _patches(maps: Tensor) -> Tensor:
    """Map (N, V, COLORS, M, M) to (N, V, KEPT, P), P of all patches."""
    apart = functional.pixel_shuffle(maps.flatten(0, 1), 2)
    return apart.view(maps.shape[0], maps.shape[1], KEPT, -1)


def _inverse(covariance: Tensor) -> Tensor:
    """Invert symmetric matrices (N, 3, 3) by their cofactors, because ONNX has no inverse."""
    a, b, c = (covariance[:, 0, 0] + _NOISE, covariance[:, 0, 1], covariance[:, 0, 2])
    d, e, f = (covariance[:, 1, 1] + _NOISE, covariance[:, 1, 2], covariance[:, 2, 2] + _NOISE)
    rows = [d * f - e * e, c * e - b * f, b * e - c * d, a * f - c * c, b * c - a * e, a * d - b * b]
    whole = a * rows[0] + b * rows[1] + c * rows[2]
    aa, ab, ac, dd, de, ff = (row / whole for row in rows)
    return torch.stack([aa, ab, ac, ab, dd, de, ac, de, ff], 1).view(-1, 3, 3)
