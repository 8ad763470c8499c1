"""The bodies of dishes and cutlery, by color and state."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla_sim.kitchen.bodies import COLOURS, Colour, Part, ShapedBody, Solid, centred
from kc_vla_sim.kitchen.meshes import SEGMENTS, ball, box, lathe, pillar, ring

DIRT: Colour = (0.2, 0.09, 0.02)
COFFEE: Colour = (0.1, 0.035, 0.01)
_JUICE: Colour = (0.85, 0.38, 0.02)
SOUP: Colour = (0.7, 0.16, 0.02)
_WATER: Colour = (0.25, 0.5, 0.75)
_STEEL = COLOURS["silver"]
_STEP = 2 * np.pi / SEGMENTS
_LIFT = 0.0012
"""What is painted on a surface is so far above it, m."""


def _hollow(low: float, high: float, height: float, wall: float = 0.004, floor: float = 0.008) -> list[Part]:
    """Return a vessel that widens from one radius to another; its color is the caller's."""
    slope = (high - low) / height
    inner = low + slope * floor - wall
    profile = [(0.0, 0.0), (low, 0.0), (high, height), (high - wall, height), (inner, floor), (0.0, floor)]
    return [Part(lathe(profile), (0.0, 0.0, 0.0))]


def _coloured(parts: list[Part], colour: Colour) -> list[Part]:
    return [Part(part.mesh, colour) for part in parts]


def _surface(radius: float, height: float, colour: Colour) -> Part:
    """Return the level of what a vessel is filled with."""
    return Part(lathe([(radius, height - 0.001), (radius, height), (0.0, height)]), colour)


def _stains(radius: float, height: float) -> list[Part]:
    """Return brown patches around a wall."""
    places = [(0, 2, 0.2, 0.6), (3, 2, 0.45, 0.9), (7, 2, 0.15, 0.5), (10, 3, 0.4, 0.85)]
    return [
        Part(
            lathe([(radius + _LIFT, low * height), (radius + _LIFT, high * height)], span * _STEP).moved(
                turn=Rotation.from_euler("z", start * _STEP)
            ),
            DIRT,
        )
        for start, span, low, high in places
    ]


def mug(colour: Colour, state: str) -> ShapedBody:
    """Return a mug with a handle; "dirty" or "filled"."""
    radius, height = 0.035, 0.09
    parts = _coloured(_hollow(radius, radius, height), colour)
    parts.append(Part(ring(0.023, 0.009, span=np.pi).moved(turn=Rotation.from_euler("y", np.pi / 2)), colour))
    handle = parts.pop()
    parts.append(Part(handle.mesh.moved((radius - 0.002, 0, height / 2)), colour))
    if state == "dirty":
        parts += [*_stains(radius, height), _surface(radius - 0.004, 0.0085, DIRT)]
        parts.append(Part(lathe([(radius - 0.0052, height - 0.002), (radius - 0.0052, height - 0.035)]), DIRT))
    if state == "filled":
        parts.append(_surface(radius - 0.004, 0.85 * height, COFFEE))
    body = Solid("cylinder", (2 * radius, 2 * radius, height), (0, 0, height / 2))
    return centred(parts, [body, Solid("box", (0.02, 0.009, 0.05), (radius + 0.014, 0, height / 2))])


def cup(colour: Colour, state: str) -> ShapedBody:
    """Return a cup without a handle, wider at its top; it may be "filled"."""
    low, high, height = 0.026, 0.035, 0.1
    parts = _coloured(_hollow(low, high, height, 0.0035), colour)
    parts.append(Part(lathe([(0.0335 + _LIFT, 0.072), (0.0345 + _LIFT, 0.088)]), COLOURS["white"]))
    if state == "filled":
        parts.append(_surface(0.0312, 0.088, _JUICE))
    return centred(parts, [Solid("cylinder", (2 * high, 2 * high, height), (0, 0, height / 2))])


def bowl(colour: Colour, state: str) -> ShapedBody:
    """Return a bowl; it may be "filled"."""
    radius, height = 0.068, 0.05
    outside = [(0.0, 0.0), (0.035, 0.0), (0.055, 0.02), (radius, height)]
    inside = [(radius - 0.005, height), (0.048, 0.02), (0.03, 0.008), (0.0, 0.008)]
    parts = [Part(lathe([*outside, *inside]), colour)]
    if state == "filled":
        parts.append(_surface(0.0575, 0.038, SOUP))
    return centred(parts, [Solid("cylinder", (2 * radius, 2 * radius, height), (0, 0, height / 2))])


def plate(colour: Colour, state: str) -> ShapedBody:
    """Return a plate; it may be "dirty"."""
    radius, height = 0.082, 0.016
    profile = [(0.0, 0.0), (0.05, 0.0), (radius, height - 0.003), (radius, height), (0.05, 0.005), (0.0, 0.005)]
    rim = [(radius - 0.012 - 0.004, 0.0125), (radius - 0.022, 0.0106)]
    accent = COLOURS["blue"] if colour == COLOURS["white"] else COLOURS["white"]
    parts = [Part(lathe(profile, segments=20), colour), Part(lathe(rim, segments=20), accent)]
    if state == "dirty":
        spots = [(0.018, 0.012, 0.02), (-0.025, 0.02, 0.014), (-0.008, -0.026, 0.018), (0.032, -0.022, 0.01)]
        parts += [Part(lathe(pillar(r, 0.003), segments=9).moved((x, y, 0.004)), DIRT) for x, y, r in spots]
    return centred(parts, [Solid("cylinder", (2 * radius, 2 * radius, height), (0, 0, height / 2))])


def spoon(colour: Colour, state: str) -> ShapedBody:
    """Return a spoon that lies along x."""
    hollow = lathe(ball(1.0, 6), segments=10).stretched((0.024, 0.017, 0.006)).moved((0.05, 0, 0.006))
    parts = [Part(box((0.1, 0.008, 0.006)).moved((-0.02, 0, 0.008)), colour), Part(hollow, _STEEL)]
    return centred(parts, [Solid("box", (0.14, 0.014, 0.012), (0, 0, 0.006))])


def knife(colour: Colour, state: str) -> ShapedBody:
    """Return a knife that lies along x, its handle in `colour`."""
    parts = [
        Part(box((0.08, 0.018, 0.014)).moved((-0.055, 0, 0.007)), colour),
        Part(box((0.1, 0.022, 0.003)).moved((0.03, 0.001, 0.006)), _STEEL),
        Part(box((0.02, 0.012, 0.003)).moved((0.085, -0.003, 0.006)), _STEEL),
    ]
    return centred(parts, [Solid("box", (0.18, 0.02, 0.014), (0, 0, 0.007))])


def kettle(colour: Colour, state: str) -> ShapedBody:
    """Return a kettle with a spout and a handle over it."""
    radius, height = 0.056, 0.1
    outside = [(0.0, 0.0), (radius, 0.0), (radius, 0.05), (0.036, height), (0.0, height)]
    spout = lathe([(0.0, 0.0), (0.012, 0.0), (0.008, 0.05), (0.0, 0.05)], segments=8)
    parts = [
        Part(lathe(outside), colour),
        Part(lathe(pillar(0.011, 0.016, height)), COLOURS["black"]),
        Part(spout.moved((0.042, 0, 0.05), Rotation.from_euler("y", 0.75)), colour),
        Part(
            ring(0.045, 0.009, Rotation.from_euler("y", -np.pi), np.pi).moved((0, 0, height - 0.012)), COLOURS["black"]
        ),
    ]
    return centred(
        parts,
        [
            Solid("cylinder", (2 * radius, 2 * radius, height), (0, 0, height / 2)),
            Solid("box", (0.09, 0.01, 0.045), (0, 0, height + 0.015)),
        ],
    )


def pot(colour: Colour, state: str) -> ShapedBody:
    """Return a pot with two handles; it may be "filled"."""
    radius, height = 0.062, 0.075
    parts = _coloured(_hollow(radius, radius, height), colour)
    for side in (-1, 1):
        parts.append(
            Part(box((0.022, 0.04, 0.009)).moved((side * (radius + 0.01), 0, height - 0.02)), COLOURS["black"])
        )
    parts.append(Part(lathe([(radius + _LIFT, height - 0.008), (radius + _LIFT, height)]), _STEEL))
    if state == "filled":
        parts.append(_surface(radius - 0.004, 0.8 * height, _WATER))
    return centred(
        parts,
        [
            Solid("cylinder", (2 * radius, 2 * radius, height), (0, 0, height / 2)),
            Solid("box", (2 * radius + 0.042, 0.04, 0.009), (0, 0, height - 0.02)),
        ],
    )
