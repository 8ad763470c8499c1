"""A scene graph as an image: each floor from above, areas with the ways between them, objects in their place."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from kc_vla.core.files import replacing
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Connection, SceneObject
from kc_vla.memory.long_term.tokens import shown

_MOST_LABELS, _MOST_NAMED = 120, 4
"""Most labels that are tried on a floor, as more could not be read, and most names on or in one thing."""
_MOST_FLOORS = 6
_STANDS, _CARRIED, _WAY = "tab:brown", "tab:orange", "tab:blue"
_INCHES_PER_M, _WIDTHS_IN, _HEIGHTS_IN, _ROUND_IN = 1.2, (9.0, 24.0), (3.0, 20.0), 1.2
_ROOM = 0.08
"""Share of the width that stays free around everything, for names."""
_CORNERS = 4
_FAR_PT = (3.0, 12.0, 22.0, 34.0)
"""How far from its place a name is tried, nearest first."""
_TOWARDS = ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
_SIDE = {1: ("left", "bottom"), 0: ("center", "center"), -1: ("right", "top")}


class _Label(NamedTuple):
    text: str
    x: float
    y: float
    colour: str
    size_pt: float


def draw_graph(graph: SceneGraph, path: Path, least: float = 0.2) -> None:
    """Draw a graph as a PNG. Names that would lie on others are left out, and counted.

    Args:
        graph: of what.
        path: of the image.
        least: confidence of the objects that are drawn.
    """
    floors = sorted(graph.floors.values(), key=lambda floor: floor.height_m)[:_MOST_FLOORS]
    panels: dict[str, list[SceneObject]] = {floor.id: [] for floor in floors} or {"": []}
    of_area = {area.id: area.floor for area in graph.areas.values()}
    for each in graph.known(least):
        floor = of_area.get(each.area, next(iter(panels)))  # what is in no area is drawn on the lowest floor
        if floor in panels:
            panels[floor].append(each)
    areas = {name: [area for area in graph.areas.values() if area.floor == name] for name in panels}
    sizes = [_inches(areas[name], things) for name, things in panels.items()]
    heights = [height for _, height in sizes]
    figure = Figure(figsize=(max(width for width, _ in sizes), sum(heights)), layout="constrained")
    renderer: RendererBase = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    axes = figure.subplots(len(panels), squeeze=False, height_ratios=heights)[:, 0]
    titles = []
    for axis, (name, things) in zip(axes, panels.items(), strict=True):
        _draw_areas(axis, areas[name])
        _draw_connections(axis, [each for area in areas[name] for each in graph.connections_of(area.id)], name, of_area)
        _draw_things(axis, things)
        where = f"{shown(graph.map_id)}{', ' + shown(name) if name else ''}"
        told = f"{where}: {_counted(len(areas[name]), 'area')}, {_counted(len(things), 'object')}"
        titles.append(told)
        axis.set_title(told, parse_math=False)
        axis.set(xlabel="x, m", ylabel="y, m", aspect="equal")
        axis.margins(_ROOM)
        axis.autoscale_view()
        handles, names = axis.get_legend_handles_labels()
        if handles:
            axis.legend(handles, names, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7, frameon=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a name in letters that the font does not have
        figure.draw_without_rendering()  # now it is known where on the paper everything is
        figure.set_layout_engine("none")
        for axis, told, (name, things) in zip(axes, titles, panels.items(), strict=True):
            if left_out := _write(axis, (*_rooms(areas[name]), *_names(things)), renderer):
                axis.set_title(f"{told}; {left_out} names left out", parse_math=False)
        with replacing(path) as part:
            figure.savefig(part, dpi=100, format="png")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _inches(areas: Sequence[Area], things: Sequence[SceneObject]) -> tuple[float, float]:
    """Return the width and height of a panel in which a room can be read, and a large home still looked at."""
    places = np.array([area.position[:2] for area in areas] + [thing.position[:2] for thing in things] or [(0.0, 0.0)])
    across, up = np.maximum(np.ptp(places, axis=0) + 1.0, 1.0)
    width = float(np.clip(across * _INCHES_PER_M + _ROUND_IN, *_WIDTHS_IN))
    return width, float(np.clip(up * (width - _ROUND_IN) / across + _ROUND_IN, *_HEIGHTS_IN))


def _draw_areas(axis: Axes, areas: Sequence[Area]) -> None:
    known = {area.id: area for area in areas}
    lines = [
        (area.position[:2], known[other].position[:2])
        for area in areas
        for other in area.adjacent
        if other in known and area.id < other
    ]
    axis.add_collection(LineCollection(lines, colors=_WAY, linewidths=0.8, alpha=0.5))
    if areas:
        x, y, _ = zip(*(area.position for area in areas), strict=True)
        axis.scatter(x, y, s=25, color=_WAY, zorder=2, label="area, with ways")


def _draw_connections(axis: Axes, connections: Sequence[Connection], floor: str, of_area: Mapping[str, str]) -> None:
    """Mark where each connection begins on a floor, with what it is and where it leads."""
    for each in connections:
        here = next((at for at, area in enumerate(each.areas) if of_area.get(area) == floor), 0)
        x, y, _ = each.places[here]
        told = f"{each.kind} to {shown(of_area.get(each.areas[1 - here], each.areas[1 - here]))}"
        axis.scatter([x], [y], s=70, marker="^", facecolor="none", edgecolor="tab:green", zorder=4, label=told)


def _draw_things(axis: Axes, things: Sequence[SceneObject]) -> None:
    for colour, movable in ((_STANDS, False), (_CARRIED, True)):
        some = [each for each in things if each.movable is movable]
        for each in some:
            corner = each.position[0] - each.size[0] / 2, each.position[1] - each.size[1] / 2
            if each.size[0] > 0 and each.size[1] > 0:
                axis.add_patch(Rectangle(corner, each.size[0], each.size[1], color=colour, alpha=0.35, linewidth=0))
        if some:
            x, y, _ = zip(*(each.position for each in some), strict=True)
            axis.scatter(x, y, s=4, color=colour, zorder=3, label="may be carried" if movable else "stands")


def _rooms(areas: Iterable[Area]) -> Iterable[_Label]:
    """Yield each name of areas once, in the middle of those that bear it; areas without a name by their ids."""
    named: dict[str, list[Area]] = {}
    for area in areas:
        named.setdefault(area.name or area.id, []).append(area)
    for name, some in named.items():
        middle = np.mean([area.position[:2] for area in some], axis=0)
        area = min(some, key=lambda each: float(np.hypot(*(np.array(each.position[:2]) - middle))))
        yield _Label(shown(name), area.position[0], area.position[1], _WAY, 9.0 if len(some) > 1 else 7.0)


def _names(things: Sequence[SceneObject]) -> Iterable[_Label]:
    """Yield the labels of what stands, with what is on or in it, the largest first.

    Then comes what is carried and on nothing that is drawn.
    """
    drawn = {each.id for each in things if not each.movable}
    held: dict[str, Counter[str]] = {}
    for each in things:
        if each.movable and each.holder in drawn:
            held.setdefault(each.holder, Counter())[shown(each.object_type)] += 1
    for each in sorted(things, key=lambda thing: (thing.movable, -thing.diagonal_m)):
        if each.movable and each.holder in drawn:
            continue
        on_it = [f"{kind} x{count}" if count > 1 else kind for kind, count in held.get(each.id, Counter()).items()]
        more = [f"{len(on_it) - _MOST_NAMED} more"] if len(on_it) > _MOST_NAMED else []
        named = f": {', '.join([*on_it[:_MOST_NAMED], *more])}" if on_it else ""
        yield _Label(f"{shown(each.object_type)}{named}", each.position[0], each.position[1], "black", 7.0)


def _write(axis: Axes, labels: Sequence[_Label], renderer: RendererBase) -> int:
    """Write each name beside its place where no other is; return how many had no room."""
    legend = axis.get_legend()
    taken = [] if legend is None else [legend.get_window_extent(renderer)]
    paper = axis.get_figure(root=True).bbox  # type: ignore[union-attr]
    room = Bbox.from_extents(paper.x0, axis.bbox.y0, paper.x1, axis.bbox.y1)
    left_out = max(len(labels) - _MOST_LABELS, 0)
    for label in labels[:_MOST_LABELS]:
        note = axis.annotate(
            label.text,
            (label.x, label.y),
            (0.0, 0.0),
            textcoords="offset points",
            fontsize=label.size_pt,
            color=label.colour,
            parse_math=False,
            arrowprops={"arrowstyle": "-", "linewidth": 0.3, "color": label.colour, "shrinkA": 0, "shrinkB": 0},
        )
        for far in _FAR_PT:
            for right, up in _TOWARDS:
                note.set_position((right * far, up * far))
                note.set(ha=_SIDE[right][0], va=_SIDE[up][1])
                note.update_positions(renderer)
                box = Text.get_window_extent(note)  # without the line to its place
                inside = room.count_contains(box.corners()) == _CORNERS
                if inside and not any(box.overlaps(other) for other in taken):
                    break
            else:
                continue
            taken.append(box)
            break
        else:
            note.remove()
            left_out += 1
    return left_out
