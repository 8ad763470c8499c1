"""A scene graph as a picture: each floor from above, areas with the ways between them, objects in their place."""

from __future__ import annotations

import warnings
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kc_vla.core.files import replacing
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import SceneObject
from kc_vla.memory.long_term.tokens import shown

_MOST_NAMES = 60
"""Of a floor that are written: more could not be read."""
_MOST_FLOORS = 6
_STANDS, _CARRIED = "tab:brown", "tab:orange"


def draw_graph(graph: SceneGraph, path: Path, least: float = 0.2) -> None:
    """Draw a graph as a PNG.

    Args:
        graph: of what.
        path: of the picture.
        least: confidence of the objects that are drawn.
    """
    floors = sorted(graph.floors.values(), key=lambda floor: floor.height_m)[:_MOST_FLOORS]
    panels: dict[str, list[SceneObject]] = {floor.id: [] for floor in floors} or {"": []}
    of_area = {area.id: area.floor for area in graph.areas.values()}
    for each in graph.known(least):
        floor = of_area.get(each.area, next(iter(panels)))  # what is in no area is drawn on the lowest floor
        if floor in panels:
            panels[floor].append(each)
    figure = Figure(figsize=(9.0, 7.5 * len(panels)), layout="constrained")
    for axis, (name, things) in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels.items(), strict=True):
        _draw_areas(axis, graph, name)
        _draw_things(axis, things)
        number = sum(area.floor == name for area in graph.areas.values())
        title = f"{shown(graph.map_id)}{', ' + shown(name) if name else ''}: {number} areas, {len(things)} objects"
        axis.set_title(title, parse_math=False)
        axis.set(xlabel="x, m", ylabel="y, m", aspect="equal")
        axis.autoscale_view()
    with replacing(path) as part, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a name in letters that the font does not have
        figure.savefig(part, dpi=100, format="png")


def _draw_areas(axis: Axes, graph: SceneGraph, floor: str) -> None:
    areas = {area.id: area for area in graph.areas.values() if area.floor == floor}
    lines = [
        (area.position[:2], areas[other].position[:2])
        for area in areas.values()
        for other in area.adjacent
        if other in areas and area.id < other
    ]
    axis.add_collection(LineCollection(lines, colors="tab:blue", linewidths=0.8, alpha=0.5))
    if areas:
        x, y, _ = zip(*(area.position for area in areas.values()), strict=True)
        axis.scatter(x, y, s=25, color="tab:blue", zorder=2)
    for area in list(areas.values())[:_MOST_NAMES]:
        _write(axis, area.name or area.id, area.position[0], area.position[1], "tab:blue")


def _draw_things(axis: Axes, things: list[SceneObject]) -> None:
    for colour, some in (
        (_STANDS, [each for each in things if not each.movable]),
        (_CARRIED, [each for each in things if each.movable]),
    ):
        for each in some:
            corner = each.position[0] - each.size[0] / 2, each.position[1] - each.size[1] / 2
            if each.size[0] > 0 and each.size[1] > 0:
                axis.add_patch(Rectangle(corner, each.size[0], each.size[1], color=colour, alpha=0.35, linewidth=0))
        if some:
            x, y, _ = zip(*(each.position for each in some), strict=True)
            axis.scatter(x, y, s=4, color=colour, zorder=3)
    for each in sorted(things, key=lambda thing: -thing.diagonal_m)[:_MOST_NAMES]:
        _write(axis, each.object_type, each.position[0], each.position[1], "black")


def _write(axis: Axes, text: str, x: float, y: float, colour: str) -> None:
    axis.annotate(shown(text), (x, y), (2, 2), textcoords="offset points", fontsize=6, color=colour, parse_math=False)
