"""The bodies of food and of what it comes in, by color and state."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla_sim.kitchen.bodies import COLOURS, Colour, Part, ShapedBody, Solid, centred
from kc_vla_sim.kitchen.meshes import ball, box, cut_face, joined, lathe, pillar

_WHITE, _BLACK, _GREEN = COLOURS["white"], COLOURS["black"], COLOURS["green"]
_STALK: Colour = (0.16, 0.08, 0.02)
_APPLE_INSIDE: Colour = (0.9, 0.82, 0.55)
_TOMATO_INSIDE: Colour = (0.9, 0.32, 0.2)
_TOMATO_SEEDS: Colour = (0.85, 0.6, 0.15)
_CRUST: Colour = (0.42, 0.19, 0.05)
_CRUMB: Colour = (0.88, 0.74, 0.48)
Profile = list[tuple[float, float]]


def _round(radius: float, flatness: float = 1.0) -> Profile:
    return [(r, flatness * z) for r, z in ball(radius)]


def _halves(profile: Profile, outside: Colour, inside: Colour, core: Colour, radius: float) -> ShapedBody:
    """Return two halves that lie side by side with their cut faces up."""
    up = Rotation.from_euler("x", -np.pi / 2)
    half, face = lathe(profile, np.pi).moved(turn=up), cut_face(profile).moved(turn=up)
    spot = lathe(pillar(0.3 * radius, 0.0015), segments=8)
    parts = []
    for side in (-1, 1):
        place = (side * 1.04 * radius, 0, radius)
        parts += [Part(half.moved(place), outside), Part(face.moved(place), inside), Part(spot.moved(place), core)]
    # One solid for both, as they move as one: a finger that got into a gap between two would be caught there.
    solid = Solid("box", (3.68 * radius, 1.6 * radius, radius), (0, 0, radius / 2))
    return centred(parts, [solid])


def apple(colour: Colour, state: str) -> ShapedBody:
    """Return an apple; it may be "sliced"."""
    radius = 0.036
    profile = [
        (0.0, -0.03),
        (0.02, -0.033),
        (0.032, -0.015),
        (radius, 0.006),
        (0.03, 0.026),
        (0.015, 0.033),
        (0.0, 0.027),
    ]
    if state == "sliced":
        return _halves(profile, colour, _APPLE_INSIDE, _STALK, radius)
    stalk = lathe(pillar(0.003, 0.018, 0.026), segments=6)
    leaf = box((0.018, 0.009, 0.002)).moved((0.011, 0, 0.04), Rotation.from_euler("y", -0.4))
    parts = [Part(lathe(profile, smooth=True), colour), Part(stalk, _STALK), Part(leaf, _GREEN)]
    return centred(parts, [Solid("sphere", (2 * radius,) * 3, (0, 0, radius - 0.033))])


def orange(colour: Colour, state: str) -> ShapedBody:
    """Return an orange."""
    radius = 0.037
    parts = [Part(lathe(_round(radius), smooth=True), colour)]
    parts.append(Part(lathe(pillar(0.005, 0.003, radius - 0.002), segments=6), _GREEN))
    return centred(parts, [Solid("sphere", (2 * radius,) * 3)])


def tomato(colour: Colour, state: str) -> ShapedBody:
    """Return a tomato; it may be "sliced"."""
    radius, flatness = 0.034, 0.82
    profile = _round(radius, flatness)
    if state == "sliced":
        return _halves(profile, colour, _TOMATO_INSIDE, _TOMATO_SEEDS, radius)
    top = flatness * radius
    leaves = [
        Part(box((0.03, 0.008, 0.003)).moved((0, 0, top + 0.0005), Rotation.from_euler("z", k * np.pi / 3)), _GREEN)
        for k in range(3)
    ]
    parts = [Part(lathe(profile, smooth=True), colour), *leaves]
    return centred(parts, [Solid("cylinder", (1.8 * radius, 1.8 * radius, 2 * top))])


def banana(colour: Colour, state: str) -> ShapedBody:
    """Return a banana that lies on its side."""
    bend, span = 0.085, 1.7
    corners = [(np.cos(a), np.sin(a)) for a in np.linspace(np.pi, 3 * np.pi, 9)]
    profile = [(bend + 0.017 * float(c), 0.017 * float(s)) for c, s in corners]
    tips = []
    for angle in (0.0, span):
        at = (bend * np.cos(angle), bend * np.sin(angle), 0.0)
        tips.append(box((0.016, 0.02, 0.016)).moved(at, Rotation.from_euler("z", angle)))
    parts = [Part(lathe(profile, span, segments=26, smooth=True), colour), Part(joined(tips), _STALK)]
    solids = []
    for share in (0.17, 0.5, 0.83):
        angle = share * span
        at = (bend * float(np.cos(angle)), bend * float(np.sin(angle)), 0.0)
        solids.append(Solid("box", (0.03, 0.05, 0.034), at, (0.0, 0.0, angle)))
    return centred(parts, solids)


def egg(colour: Colour, state: str) -> ShapedBody:
    """Return an egg that lies on its side."""
    mesh = lathe(ball(1.0), smooth=True).stretched((0.028, 0.021, 0.021))
    return centred([Part(mesh, colour)], [Solid("box", (0.044, 0.032, 0.042))])


def bread(colour: Colour, state: str) -> ShapedBody:
    """Return a loaf; it may be "sliced"."""
    width, height = 0.075, 0.07
    length = 0.085 if state == "sliced" else 0.16

    def loaf(along: float) -> list[tuple[tuple[float, float, float], tuple[float, float, float]]]:
        low, high = (along, width, 0.6 * height), (along, 0.82 * width, 0.4 * height)
        return [(low, (0, 0, 0.3 * height)), (high, (0, 0, 0.8 * height))]

    parts = [Part(box(size).moved(place), colour) for size, place in loaf(length)]
    solids = [Solid("box", (length, width, height), (0, 0, height / 2))]
    if state != "sliced":
        cuts = [box((0.008, 0.8 * width, 0.004)).moved((x, 0, height)) for x in (-0.045, 0.0, 0.045)]
        return centred([*parts, Part(joined(cuts), _CRUMB)], solids)
    end = [
        box((0.003, 0.85 * size[1], 0.85 * size[2])).moved((length / 2, 0, place[2])) for size, place in loaf(length)
    ]
    parts.append(Part(joined(end), _CRUMB))
    for k in range(2):
        x, z = length / 2 + 0.047 + 0.028 * k, 0.009 + 0.016 * k
        parts.append(Part(box((height, width, 0.016)).moved((x, 0, z)), colour))
        parts.append(Part(box((0.84 * height, 0.84 * width, 0.003)).moved((x, 0, z + 0.008)), _CRUMB))
    solids.append(Solid("box", (0.1, width, 0.03), (length / 2 + 0.06, 0, 0.015)))
    return centred(parts, solids)


def bottle(colour: Colour, state: str) -> ShapedBody:
    """Return a bottle with a label and a cap."""
    radius, height = 0.032, 0.2
    profile = [(0.0, 0.0), (radius, 0.0), (radius, 0.12), (0.013, 0.155), (0.013, height - 0.02), (0.0, height - 0.02)]
    parts = [
        Part(lathe(profile), colour),
        Part(lathe([(radius + 0.0012, 0.035), (radius + 0.0012, 0.095)]), COLOURS["cream"]),
        Part(lathe(pillar(0.0155, 0.022, height - 0.022)), COLOURS["red"] if colour != COLOURS["red"] else _WHITE),
    ]
    neck = Solid("cylinder", (0.03, 0.03, 0.07), (0, 0, 0.165))
    return centred(parts, [Solid("cylinder", (2 * radius, 2 * radius, 0.13), (0, 0, 0.065)), neck])


def can(colour: Colour, state: str) -> ShapedBody:
    """Return a can of metal with a colored label."""
    radius, height = 0.033, 0.1
    parts = [
        Part(lathe(pillar(radius, height)), COLOURS["silver"]),
        Part(lathe([(radius + 0.0012, 0.01), (radius + 0.0012, height - 0.01)]), colour),
        Part(lathe([(radius + 0.002, 0.042), (radius + 0.002, 0.06)]), _WHITE),
    ]
    return centred(parts, [Solid("cylinder", (2 * radius, 2 * radius, height), (0, 0, height / 2))])


def milk(colour: Colour, state: str) -> ShapedBody:
    """Return a carton with a gable, white with a band of `colour`."""
    width, height = 0.065, 0.13
    slope = float(np.hypot(width / 2, 0.03))
    lean = float(np.arctan2(0.03, width / 2))
    roof = [
        box((slope, width, 0.003)).moved((side * width / 4, 0, height + 0.015), Rotation.from_euler("y", side * lean))
        for side in (-1, 1)
    ]
    parts = [
        Part(box((width, width, height)).moved((0, 0, height / 2)), _WHITE),
        Part(box((width + 0.0024, width + 0.0024, 0.05)).moved((0, 0, 0.06)), colour),
        Part(joined(roof), colour),
        Part(box((0.006, width, 0.018)).moved((0, 0, height + 0.036)), _WHITE),
    ]
    return centred(parts, [Solid("box", (width, width, height + 0.02), (0, 0, height / 2 + 0.01))])


def cereal(colour: Colour, state: str) -> ShapedBody:
    """Return a flat box of cereals with a print on its front and back."""
    width, depth, height = 0.12, 0.045, 0.17
    panel = box((0.7 * width, depth + 0.0024, 0.35 * height)).moved((0, 0, 0.62 * height))
    flakes = [
        lathe(pillar(0.017, depth + 0.005), segments=9).moved(
            (x, depth / 2 + 0.0025, z), Rotation.from_euler("x", np.pi / 2)
        )
        for x, z in ((-0.022, 0.1), (0.02, 0.115))
    ]
    parts = [
        Part(box((width, depth, height)).moved((0, 0, height / 2)), colour),
        Part(panel, COLOURS["cream"]),
        Part(joined(flakes), COLOURS["orange"] if colour != COLOURS["orange"] else COLOURS["brown"]),
        Part(box((0.85 * width, depth + 0.0024, 0.02)).moved((0, 0, 0.2 * height)), _WHITE),
    ]
    return centred(parts, [Solid("box", (width, depth, height), (0, 0, height / 2))])


def sponge(colour: Colour, state: str) -> ShapedBody:
    """Return a sponge with a rough side of another color."""
    other = _GREEN if colour != _GREEN else COLOURS["yellow"]
    parts = [
        Part(box((0.09, 0.06, 0.022)).moved((0, 0, 0.011)), colour),
        Part(box((0.09, 0.06, 0.009)).moved((0, 0, 0.0265)), other),
    ]
    return centred(parts, [Solid("box", (0.09, 0.06, 0.031), (0, 0, 0.0155))])


def salt_shaker(colour: Colour, state: str) -> ShapedBody:
    """Return a salt shaker with a cap of `colour`."""
    glass: Profile = [(0.0, 0.0), (0.022, 0.0), (0.018, 0.05), (0.0, 0.05)]
    cap: Profile = [(0.0, 0.05), (0.02, 0.05), (0.019, 0.064), (0.01, 0.072), (0.0, 0.073)]
    holes = [box((0.004, 0.004, 0.002)).moved((x, y, 0.0732)) for x, y in ((0, 0), (0.006, 0), (-0.006, 0), (0, 0.006))]
    parts = [Part(lathe(glass), _WHITE), Part(lathe(cap), colour), Part(joined(holes), _BLACK)]
    return centred(parts, [Solid("cylinder", (0.042, 0.042, 0.073), (0, 0, 0.0365))])
