"""ACT as it acts, after Zhao et al. (2023): images and state to a chunk of actions, the style variable at 0.

Its weights have the names that LeRobot gives them; the part that only learning needs, which reads actions, is left out.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from kc_vla.learning.act.checkpoint import ActCheckpoint
from kc_vla.learning.act.normalising import AffineMap
from kc_vla.learning.common.backbone import FEATURES, ResNet18
from kc_vla.policy.act import STATE, ActConfig, Network
from kc_vla.policy.interface import PolicyError

_SHRINKS = 32
"""Pixels of an image for each of the last map, along a side."""
_LEARNING = ("vae_encoder",)
_COUNTED = "num_batches_tracked"
"""Name of a weight that only a trainable batch norm has; LeRobot's are frozen and lack it."""


class _FeedForward(nn.Module):
    def __init__(self, sizes: Network, norms: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(sizes.dim, sizes.feedforward)
        self.linear2 = nn.Linear(sizes.feedforward, sizes.dim)
        self.self_attn = nn.MultiheadAttention(sizes.dim, sizes.heads, batch_first=True)
        for number in range(1, norms + 1):
            self.add_module(f"norm{number}", nn.LayerNorm(sizes.dim))
        self._before = sizes.pre_norm
        self._activation = functional.relu if sizes.activation == "relu" else functional.gelu

    def added(self, number: int, x: Tensor, part: str, *others: Tensor) -> Tensor:
        """Return the tokens (1, N, D) with what a part makes of them added; the norm stands before or after."""
        norm, work = self.get_submodule(f"norm{number}"), getattr(self, part)
        if self._before:
            return cast(Tensor, x + work(norm(x), *others))
        return cast(Tensor, norm(x + work(x, *others)))

    def attend(self, x: Tensor, places: Tensor) -> Tensor:
        asks = x + places
        return cast(Tensor, self.self_attn(asks, asks, x, need_weights=False)[0])

    def think(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.linear2(self._activation(self.linear1(x))))


class EncoderLayer(_FeedForward):
    """Tokens that look at one another."""

    def __init__(self, sizes: Network) -> None:
        super().__init__(sizes, 2)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        """Map tokens (1, N, D) and where they are (1, N, D) to tokens."""
        return self.added(2, self.added(1, x, "attend", places), "think")


class DecoderLayer(_FeedForward):
    """Actions that look at one another and at the tokens."""

    def __init__(self, sizes: Network) -> None:
        super().__init__(sizes, 3)
        self.multihead_attn = nn.MultiheadAttention(sizes.dim, sizes.heads, batch_first=True)

    def look(self, x: Tensor, asks: Tensor, seen: Tensor, places: Tensor) -> Tensor:
        """Return what the actions find in the tokens."""
        return cast(Tensor, self.multihead_attn(x + asks, seen + places, seen, need_weights=False)[0])

    def forward(self, x: Tensor, asks: Tensor, seen: Tensor, places: Tensor) -> Tensor:
        """Map actions (1, H, D), their places (1, H, D), tokens and their places (1, N, D) to actions."""
        x = self.added(1, x, "attend", asks)
        return self.added(3, self.added(2, x, "look", asks, seen, places), "think")


class _Stack(nn.Module):
    def __init__(self, layers: list[nn.Module], norm: nn.Module) -> None:
        super().__init__()
        self.layers, self.norm = nn.ModuleList(layers), norm

    def forward(self, x: Tensor, *others: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, *others)
        return cast(Tensor, self.norm(x))


class Act(nn.Module):
    """The network, for normalized features."""

    def __init__(self, config: ActConfig) -> None:
        super().__init__()
        sizes, dim = config.network, config.network.dim
        self.backbone = ResNet18()
        end = nn.LayerNorm(dim) if sizes.pre_norm else nn.Identity()
        self.encoder = _Stack([EncoderLayer(sizes) for _ in range(sizes.encoder_layers)], end)
        self.decoder = _Stack([DecoderLayer(sizes) for _ in range(sizes.decoder_layers)], nn.LayerNorm(dim))
        self.encoder_latent_input_proj = nn.Linear(sizes.latent, dim)
        if config.state:
            self.encoder_robot_state_input_proj = nn.Linear(config.state, dim)
        self.encoder_img_feat_input_proj = nn.Conv2d(FEATURES, dim, 1)
        self.encoder_1d_feature_pos_embed = nn.Embedding(2 if config.state else 1, dim)
        self.decoder_pos_embed = nn.Embedding(config.chunk, dim)
        self.action_head = nn.Linear(dim, config.action)
        self._latent, self._state = sizes.latent, config.state
        for number, (height, width) in enumerate(config.cameras.values()):
            places = _places(-(-height // _SHRINKS), -(-width // _SHRINKS), dim)
            self.register_buffer(f"places{number}", places, persistent=False)

    def forward(self, pictures: list[Tensor], state: Tensor | None) -> Tensor:
        """Map images (1, 3, H, W) of each camera and the state (1, S) to actions (1, H, A), all normalized."""
        tokens = [self.encoder_latent_input_proj(torch.zeros(1, 1, self._latent))]
        if state is not None:
            tokens.append(self.encoder_robot_state_input_proj(state)[:, None])
        places = [self.encoder_1d_feature_pos_embed.weight[None]]
        for number, picture in enumerate(pictures):
            features = self.encoder_img_feat_input_proj(self.backbone.maps(picture))
            tokens.append(features.flatten(2).transpose(1, 2))
            places.append(self.get_buffer(f"places{number}"))
        where = torch.cat(places, 1)
        seen = self.encoder(torch.cat(tokens, 1), where)
        asks = self.decoder_pos_embed.weight[None]
        return cast(Tensor, self.action_head(self.decoder(torch.zeros_like(asks), asks, seen, where)))


class ActingPolicy(nn.Module):
    """The network with its normalization: from a robot's observations to its commands."""

    def __init__(self, policy: ActCheckpoint) -> None:
        """Build the network with the weights of a policy.

        Args:
            policy: whose weights are taken.

        Raises:
            PolicyError: these are not the weights of its configuration.
        """
        super().__init__()
        self.act = Act(policy.config)
        _load(self.act, policy)
        self._cameras, self._state = list(policy.config.cameras), policy.config.state
        self.lines = nn.ModuleDict(
            {_plain(key): _Straight(line, key in policy.config.cameras) for key, line in policy.given.items()}
        )
        self.said = _Straight(policy.said, False) if policy.said is not None else nn.Identity()

    def forward(self, *given: Tensor) -> Tensor:
        """Map images (H, W, 3) uint8 RGB of each camera, and the state (S,) if there is one, to actions (H, A)."""
        pictures = [
            self._normal(key, picture.permute(2, 0, 1)[None].float() / 255)
            for key, picture in zip(self._cameras, given, strict=False)
        ]
        state = self._normal(STATE, given[-1][None]) if self._state else None
        return cast(Tensor, self.said(self.act(pictures, state))[0])

    def _normal(self, key: str, x: Tensor) -> Tensor:
        return cast(Tensor, self.lines[_plain(key)](x)) if _plain(key) in self.lines else x


class _Straight(nn.Module):
    def __init__(self, line: AffineMap, is_picture: bool) -> None:
        super().__init__()
        for name in ("shift", "scale", "offset"):
            values = torch.tensor(getattr(line, name))
            self.register_buffer(name, values[:, None, None] if is_picture else values)

    shift: Tensor
    scale: Tensor
    offset: Tensor

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.shift) * self.scale + self.offset


def _plain(key: str) -> str:
    return key.replace(".", "/")


def _places(height: int, width: int, dim: int) -> Tensor:
    """Return where the tokens of an image are (1, height * width, D): sine and cosine of row, then of column.

    Rows and columns count from 1 and go up to 2 pi, as in DETR (Carion et al., 2020).
    """
    half = dim // 2
    pairs = torch.arange(half, dtype=torch.float32) // 2
    waves = 10000 ** (2 * pairs / half)

    def side(length: int) -> Tensor:
        count = torch.arange(1, length + 1, dtype=torch.float32)
        angles = (count / (count[-1] + 1e-6) * 2 * math.pi)[:, None] / waves
        return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], 2).flatten(1)

    rows = side(height)[:, None].expand(height, width, half)
    columns = side(width)[None].expand(height, width, half)
    return torch.cat([rows, columns], 2).reshape(1, height * width, dim)


def _load(network: Act, policy: ActCheckpoint) -> None:
    weights = {name: values.float() for name, values in policy.weights.items() if not name.startswith(_LEARNING)}
    wanted = {name: values.shape for name, values in network.state_dict().items() if not name.endswith(_COUNTED)}
    lacking, unknown = sorted(wanted.keys() - weights.keys()), sorted(weights.keys() - wanted.keys())
    for names, told in ((lacking, "lack"), (unknown, "have")):
        if names:
            raise PolicyError(f"the weights {told} {', '.join(names[:3])}: they are not those of its config.json")
    for name, shape in wanted.items():
        if weights[name].shape != shape:
            found = tuple(weights[name].shape)
            raise PolicyError(f"the weight {name} is {found}, its config.json means {tuple(shape)}")
        if not torch.isfinite(weights[name]).all():
            raise PolicyError(f"the weight {name} is not finite: get the file again")
    network.load_state_dict(weights, strict=False)
