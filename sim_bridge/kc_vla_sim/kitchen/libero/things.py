"""The kinds of things of the set `libero`: those of LIBERO as its meshes, the others in the shapes of this project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.kitchen.bodies import COLOURS, Colour, Part, ShapedBody
from kc_vla_sim.kitchen.dishes import COFFEE, DIRT, SOUP
from kc_vla_sim.kitchen.kinds import ANYWHERE, CUPBOARD, DRAWER, KINDS, MICROWAVE, SINK, STOVE, TRAY, WORKTOP, ThingKind
from kc_vla_sim.kitchen.libero.fitting import BOX, HANDLED, NECKED, ROUND, Points, core, dirt, filled, standing
from kc_vla_sim.kitchen.libero.models import FIXED, LiberoModel, load_pieces

_UPRIGHT = (90.0, 0.0, 0.0)
"""Turns what has y up."""
_LEVELS: Mapping[str, tuple[float, Colour]] = {"mug": (0.85, COFFEE), "bowl": (0.72, SOUP)}
"""How full they are, share of their height, and of what."""


@dataclass(frozen=True)
class _Look:
    """A model as a color of a kind, and how large it is against the model."""

    model: LiberoModel
    scale: float = 1.0


def _hope(name: str, scale: float = 1.0, upright: bool = False) -> _Look:
    turn = _UPRIGHT if upright else (0.0, 0.0, 0.0)
    return _Look(LiberoModel(f"stable_hope_objects/{name}/{name}.xml", turn), scale)


def _scanned(name: str, scale: float = 1.0) -> _Look:
    return _Look(LiberoModel(f"stable_scanned_objects/{name}/{name}.xml"), scale)


def _bought(name: str, scale: float = 1.0) -> _Look:
    return _Look(LiberoModel(f"turbosquid_objects/{name}/{name}.xml"), scale)


def _own(name: str, scale: float = 1.0) -> _Look:
    return _Look(LiberoModel(f"custom_objects/{name}/{name}.xml"), scale)


# Colors are those of what is drawn: some models are called after another one.
_LOOKS: Mapping[str, Mapping[str, _Look]] = {
    "mug": {
        "white": _bought("porcelain_mug", 0.72),
        "yellow": _bought("white_porcelain_mug", 0.72),
        "red": _bought("red_coffee_mug", 0.77),
        "gray": _own("libero_mug", 0.78),
        "brown": _own("libero_mug_yellow", 0.78),
    },
    "bowl": {
        "gray": _scanned("akita_black_bowl", 1.15),
        "black": _scanned("black_bowl", 1.15),
        "white": _scanned("white_bowl", 1.45),
        "yellow": _scanned("yellow_bowl", 1.15),
        "red": _scanned("red_akita_black_bowl", 1.15),
    },
    "plate": {"red": _scanned("plate", 1.15), "yellow": _scanned("yellow_plate", 1.15)},
    "bottle": {"black": _bought("wine_bottle", 1.25), "green": _bought("white_bottle", 1.25)},
    "can": {
        "blue": _hope("alphabet_soup", 0.92, upright=True),
        "green": _hope("red_alphabet_soup", 0.92, upright=True),
        "red": _hope("tomato_sauce", 0.92, upright=True),
        "yellow": _hope("yellow_tomato_sauce", 0.92, upright=True),
    },
    "milk": {"red": _hope("milk", upright=True), "yellow": _hope("yellow_milk", upright=True)},
    "orange_juice": {"orange": _hope("orange_juice", upright=True), "red": _hope("red_orange_juice", upright=True)},
    "ketchup": {"orange": _hope("ketchup", upright=True), "green": _hope("green_ketchup", upright=True)},
    "bbq_sauce": {"brown": _hope("bbq_sauce"), "green": _hope("green_bbq_sauce")},
    "salad_dressing": {
        "green": _hope("salad_dressing", upright=True),
        "red": _hope("red_salad_dressing", upright=True),
    },
    "butter": {"brown": _hope("butter"), "green": _hope("green_butter")},
    "cream_cheese": {"blue": _hope("cream_cheese"), "red": _hope("red_cream_cheese")},
    "cookies": {"red": _hope("cookies"), "yellow": _hope("yellow_cookies")},
    "chocolate_pudding": {"brown": _hope("chocolate_pudding"), "green": _hope("green_chocolate_pudding")},
    "popcorn": {"blue": _hope("popcorn")},
    "macaroni": {"orange": _hope("macaroni_and_cheese", upright=True)},
    "moka_pot": {"silver": _bought("moka_pot", 0.85), "yellow": _bought("yellow_moka_pot", 0.85)},
    "frying_pan": {"black": _scanned("chefmate_8_frypan", 0.62)},
    "ramekin": {"white": _scanned("glazed_rim_porcelain_ramekin", 0.76), "red": _scanned("red_ramekin", 0.76)},
}
_SHAPES: Mapping[str, str] = {
    "mug": HANDLED,
    "bowl": ROUND,
    "plate": ROUND,
    "bottle": NECKED,
    "can": ROUND,
    "ketchup": NECKED,
    "bbq_sauce": NECKED,
    "salad_dressing": NECKED,
    "moka_pot": HANDLED,
    "frying_pan": HANDLED,
    "ramekin": ROUND,
}
_PLACES: Mapping[str, tuple[str, ...]] = {
    "orange_juice": (WORKTOP, TRAY, CUPBOARD),
    "macaroni": (WORKTOP, CUPBOARD),
    "moka_pot": (WORKTOP, STOVE),
    "frying_pan": (WORKTOP,),
    "ramekin": (*ANYWHERE, CUPBOARD, MICROWAVE, SINK),
    **dict.fromkeys(("ketchup", "bbq_sauce", "salad_dressing"), (*ANYWHERE, CUPBOARD)),
    **dict.fromkeys(
        ("butter", "cream_cheese", "cookies", "chocolate_pudding", "popcorn"), (*ANYWHERE, DRAWER, CUPBOARD)
    ),
}
_TOO_LARGE = ("frying_pan",)
SMALL = ("egg", "butter", "cream_cheese", "cookies", "popcorn")
"""An arm can take these, and they go into the drawers, which are flatter than those of the standard kitchen."""


def models() -> tuple[LiberoModel, ...]:
    """Return all models of things."""
    return tuple(look.model for looks in _LOOKS.values() for look in looks.values())


@cache
def _body(kind: str, colour: str, state: str) -> ShapedBody:
    look = _LOOKS[kind][colour]
    part = load_pieces(look.model)[FIXED]
    part = replace(part, mesh=part.mesh.stretched((look.scale,) * 3))
    more: list[Part] = []
    if state == "filled":
        more.append(filled(part.mesh, *_LEVELS[kind]))
    if state == "dirty":
        more.append(_dirt(part))
    return standing(part, _SHAPES.get(kind, BOX), *more)


def _dirt(part: Part) -> Part:
    """Return stains around a mug, inside and outside, or spots on a plate."""
    low, high = part.mesh.vertices[:, 2].min(), part.mesh.vertices[:, 2].max()
    x, y, radius = core(part.mesh)
    flat = high - low < 0.5 * radius

    def stained(points: Points) -> NDArray[np.bool_]:
        gaps = points - (x, y, low)
        away, angles = np.hypot(gaps[:, 0], gaps[:, 1]) / radius, np.arctan2(gaps[:, 1], gaps[:, 0])
        height = gaps[:, 2] / (high - low)
        covered: NDArray[np.bool_]
        if flat:
            spots = np.sin(3 * angles + 1) * np.cos(2 * angles) > 0.25 - 0.3 * away
            covered = spots & (away < 0.66) & (gaps[:, 2] > 0.002)
        else:
            covered = (np.sin(4 * angles) > 0.35) & (height < 0.62 + 0.25 * np.sin(7 * angles)) & (height > 0.12)
        return covered

    return dirt(part.mesh, stained, DIRT)


def _kind(name: str) -> ThingKind:
    colours = tuple(_LOOKS[name])
    known = KINDS.get(name)
    places = _PLACES[name] if known is None else known.places
    states = ("",) if known is None else known.states
    graspable = name not in _TOO_LARGE if known is None else known.graspable
    return ThingKind(name, lambda colour, state: _body(name, colour, state), colours, states, places, graspable)


LIBERO_KINDS: Mapping[str, ThingKind] = {**KINDS, **{name: _kind(name) for name in _LOOKS}}
"""Every kind by its name: the twenty of the standard kitchen, and those that LIBERO adds."""
assert all(set(looks) <= set(COLOURS) for looks in _LOOKS.values())
