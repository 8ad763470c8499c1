"""The TCP ports at which the stack's servers listen where nothing else is said; each in one place, none twice."""

from __future__ import annotations

from types import MappingProxyType

ANNOTATION_PAGE = 8765
HOUSEHOLD_PAGE = 8766
LIVE_PAGE = 8767
FOXGLOVE = 8768
OPENPI = 8000
GROOT = 5555

PORTS = MappingProxyType(
    {
        ANNOTATION_PAGE: "annotation page",
        HOUSEHOLD_PAGE: "map of the household",
        LIVE_PAGE: "live page",
        FOXGLOVE: "topics for Foxglove",
        OPENPI: "policies for openpi's clients",
        GROOT: "policies for GR00T's clients",
    }
)
