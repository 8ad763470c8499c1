"""Matchers for events that are addressed to processes."""

from __future__ import annotations

from collections.abc import Callable

from ..action import Action


def matches_action(target_action: Action) -> Callable[[Action], bool]:
    """Return a matcher that accepts this action alone."""
    return lambda action: action is target_action
