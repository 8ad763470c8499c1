"""Which camera of a LeRobot data set becomes which view of an episode bag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kc_vla.core.views import DEFAULT_VIEWS, can_be_view, checked_views, in_usual_order
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.lerobot.cameras import find_camera
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import EXPORTED, VIEWS_TOLD, read_json, video_key
from kc_vla.datasets.lerobot.source import Source


def imported_views(source: Source, named: Mapping[str, str]) -> dict[str, str]:
    """Return the key of the data set's camera by view, the one whose images are the frames first.

    A set that was exported from bags of ours tells the views of these. Of another one, those of the usual views are
    found by the names that data sets give them, and the others are called as their keys end.

    Args:
        source: the data set.
        named: keys of cameras by view, as the user says.

    Raises:
        ExchangeError: a named one is not there, or the first one is not known.
    """
    there = ", ".join(source.cameras) or "none"
    cameras = [key for key in source.cameras if not source.is_depth(key)]
    for view, key in named.items():
        if key in source.cameras and key not in cameras:
            raise ExchangeError(f"{source.folder}: camera '{key}' for {view} measures depth: a view has color images")
        if key not in cameras:
            raise ExchangeError(f"{source.folder} has no camera '{key}' for {view}: it has {there}")
    found = dict(named)
    told = _told(source) if not named else ()
    found |= {view: video_key(view) for view in told}
    for view in DEFAULT_VIEWS if not told else ():
        match = find_camera(cameras, view, taken=found.values())
        if view not in found and match is not None:
            found[view] = match
    if DEFAULT_VIEWS[0] not in found and not told and not named.keys() - {*DEFAULT_VIEWS} and len(cameras) != 1:
        raise ExchangeError(
            f"{source.folder}: which of its cameras is the third-person one? Say --third-person KEY, or for one of "
            f"another name --view NAME=KEY; it has {there}"
        )
    for key in cameras:
        view = key.rpartition(".")[2]
        if key not in found.values() and can_be_view(view) and view not in found:
            found[view] = key
    order = (*told, *(view for view in found if view not in told)) if told else in_usual_order(found)
    return {view: found[view] for view in order}


def _told(source: Source) -> tuple[str, ...]:
    """Return the views that an exported data set had; empty for another one."""
    try:
        about: Any = read_json(source.folder / EXPORTED)
        views = checked_views(map(str, about[VIEWS_TOLD]))
    except (DataSetError, KeyError, TypeError, ValueError):
        return ()
    return views if all(video_key(view) in source.cameras for view in views) else ()
