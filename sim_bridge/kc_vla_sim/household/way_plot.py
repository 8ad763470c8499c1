"""An image of the ways that a robot took through a home with its memory and without any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kc_vla.core.files import replacing
from kc_vla.planning.instruction import clean
from kc_vla_sim.household.floor_plan import Wall
from kc_vla_sim.household.journey import Journey, points_of
from kc_vla_sim.household.world import STANDS, World

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_LETTERS, _LEGEND, _DPI = 60, 12, 110
_ROOM_M = 0.25
_ASIDE_M = 0.06
"""Ways of several instructions lie beside one another."""
_NAMED_M2, _OVER = 0.15, {"above", "under"}
"""Furniture that is large enough for its name, and has none above or under it."""


class InstructionWays(NamedTuple):
    """An instruction with and without memory.

    Attributes:
        instruction: as it was said.
        remembering: with the robot's memory.
        alone: without any; None where that was not played.
    """

    instruction: str
    remembering: Journey
    alone: Journey | None


def plot_ways(world: World, pairs: Sequence[InstructionWays], file: Path) -> None:
    """Write the image: the same home twice, each instruction in its color in both."""
    from matplotlib.figure import Figure  # half a second, which one who draws nothing is spared

    xs, ys = zip(*(point for _, wall in _walls(world) for point in wall), strict=True)
    wide, deep = max(xs) - min(xs), max(ys) - min(ys)
    beside = wide < 2 * deep
    figure = Figure(
        figsize=(13.0, 7.0) if beside else (13.0, min(18.0, 2.0 + 25.0 * deep / wide)), layout="constrained"
    )
    for axis, alone in zip(figure.subplots(*((1, 2) if beside else (2, 1))), (False, True), strict=True):
        _home(axis, world)
        journeys = [each.alone if alone else each.remembering for each in pairs]
        there = [each for each in journeys if each is not None]
        for number, journey in enumerate(journeys):
            if journey is not None:
                _way(axis, world, journey, number)
        axis.set_title(f"{'without a memory' if alone else f'memory: {_memory(pairs)}'}: {_totals(there)}")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    said = [f"{number + 1}. {clean(each.instruction)[:_LETTERS]}" for number, each in enumerate(pairs)]
    shown = [(handle, said[int(label)]) for handle, label in zip(handles, labels, strict=True)][:_LEGEND]
    figure.legend(*zip(*shown, strict=True), loc="outside lower center", ncols=2, fontsize="small")
    figure.set_dpi(_DPI)  # of the letters that are measured
    figure.draw_without_rendering()
    for axis in figure.axes:
        _leave_out_covered(axis)
    with replacing(file) as part:
        figure.savefig(part, format="png", dpi=_DPI)


def _leave_out_covered(axis: Axes) -> None:
    """Hide names that would lie over others: rooms stay before furniture, large things before small ones."""
    kept: list[Bbox] = []
    for text in sorted(axis.texts, key=lambda each: -each.get_zorder()):
        extent = text.get_window_extent()
        if extent.count_overlaps(kept):
            text.set_visible(False)
        else:
            kept.append(extent)


def _memory(pairs: Sequence[InstructionWays]) -> str:
    return pairs[0].remembering.memory if pairs else ""


def _totals(journeys: Sequence[Journey]) -> str:
    if not journeys:
        return "not played"
    seconds, walked = sum(each.seconds for each in journeys), sum(each.walked_m for each in journeys)
    return f"{seconds:.0f} s, {walked:.0f} m, {sum(each.explorations for each in journeys)} places explored"


def _walls(world: World) -> Iterator[tuple[str, Wall]]:
    """Yield each wall as it is drawn, with its floor."""
    for floor, right in world.plan.drawn_at().items():
        for (x, y), (end_x, end_y) in world.plan.walls[floor]:
            yield floor, ((x + right, y), (end_x + right, end_y))


def _home(axis: Axes, world: World) -> None:
    from matplotlib.patches import Rectangle

    drawn_at = world.plan.drawn_at()
    for thing in world.things.values():
        if not thing.kind.fixed or thing.place.relation != STANDS:
            continue
        (x, y, _), (width, depth, _) = thing.anchor, thing.size
        x += drawn_at[world.floor_of(thing.id)]
        axis.add_patch(Rectangle((x - width / 2, y - depth / 2), width, depth, facecolor="0.92", edgecolor="0.75"))
        if width * depth > _NAMED_M2 and not _OVER & set(thing.kind.stands):
            name = thing.id.rpartition("_")[0]
            text = axis.text(
                x, y, name, fontsize=5, color="0.45", ha="center", va="center", zorder=3 + width * depth / 100
            )
            text.set_rotation(90 * (depth > 2 * width))
    for room, floor in dict.fromkeys((area.room, area.floor) for area in world.plan.areas.values()):
        inside = [area.position for area in world.plan.areas.values() if (area.room, area.floor) == (room, floor)]
        x = sum(position[0] for position in inside) / len(inside) + drawn_at[floor]
        axis.text(
            x, max(position[1] for position in inside) + _ROOM_M, room, fontsize=9, color="0.3", ha="center", zorder=5
        )
    for _, (start, end) in _walls(world):
        axis.plot(*zip(start, end, strict=True), color="black", linewidth=1.5)
    if len(drawn_at) > 1:
        for floor in drawn_at:
            points = [point for on, wall in _walls(world) if on == floor for point in wall]
            x = (min(each for each, _ in points) + max(each for each, _ in points)) / 2
            low = min(each for _, each in points)
            axis.text(x, low - _ROOM_M, f"{floor} floor", fontsize=9, color="0.3", ha="center", va="top", zorder=6)
    axis.set_aspect("equal")
    axis.set_axis_off()


def _way(axis: Axes, world: World, journey: Journey, number: int) -> None:
    aside = _ASIDE_M * (number % 5 - 2)
    xs, ys = zip(*((x + aside, y + aside) for x, y in points_of(world.plan, journey.areas)), strict=True)
    colour = f"C{number % 10}"
    axis.plot(xs, ys, color=colour, linewidth=1.6, label=str(number), solid_joinstyle="round")
    drawn_at = world.plan.drawn_at()
    stops = [world.plan.areas[each] for each in journey.areas]
    across = [each.position[0] + drawn_at[each.floor] + aside for each in stops]
    axis.scatter(across, [each.position[1] + aside for each in stops], s=12, color=colour, zorder=3)
    axis.scatter(xs[:1], ys[:1], s=60, marker="o", facecolor="white", edgecolor=colour, zorder=4)
    axis.scatter(xs[-1:], ys[-1:], s=60, marker="s", color=colour, zorder=4)
