"""The table of keyframe selectors: `selector:=` of the launch files, `selector` of the node `keyframe_selector`.

Another package adds a selector with an entry point of the group `kc_vla.keyframe_selectors` that names a
`SelectorKind`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kc_vla.core.choice import LaunchChoice
from kc_vla.core.options import option
from kc_vla.core.tables import OpenTable, TableError
from kc_vla.inference.options import ModelOptions
from kc_vla.keyframes.scoring import SelectorBackend, SourceError

T = TypeVar("T")
SELECTOR, DRIVEN_SELECTOR = "keyframe_selector", "keyframe_selector_driven"
"""Names of the shipped models: one trained on experts, and one trained on a policy's tempo as well."""
_NOTHING: Mapping[str, Any] = types.MappingProxyType({})


@dataclass(frozen=True)
class NetworkOptions(ModelOptions):
    """The options of a selector with a network."""

    model: str = option("name of the model in the registry", SELECTOR)


@dataclass(frozen=True)
class SelectorKind(LaunchChoice, Generic[T]):
    """A row of the table. One that is not `inline` has a worker, which scores the frames in order.

    Attributes:
        options: frozen dataclass of the selector's options, its fields made by `kc_vla.core.options.option`. The node
            fills those that have the name of one of its parameters; all can be given in its parameter `options`.
        make: makes the selector, or raises a `SourceError`. It imports what it needs, the row does not.
        needs_state: it needs joint states and tool poses beside the images.
    """

    options: type[T]
    make: Callable[[T], SelectorBackend]
    needs_state: bool = field(default=False, kw_only=True)


_ROWS = "kc_vla.keyframes.rows"
SELECTORS: OpenTable[SelectorKind[Any]] = OpenTable(
    "kc_vla.keyframe_selectors",
    "keyframe selector",
    SelectorKind,
    {
        "learned": f"{_ROWS}:LEARNED",
        "oracle": f"{_ROWS}:ORACLE",
        "rules": f"{_ROWS}:RULES",
        "events": f"{_ROWS}:EVENTS",
    },
    refusal=SourceError,
)


def fitting_selector(policy: str, model: str = "", models_folder: str = "") -> str:
    """Return the name of the selector that is meant where `model` names none.

    A learned policy has another tempo than the experts, and hovers until a keyframe is reported: of the models that
    come with the stack another one knows that. In a folder of one's own the usual name is looked for.

    Args:
        policy: what moves the arm, a name in `kc_vla.policy.backends.BACKENDS`; or empty.
        model: what the user named; or empty.
        models_folder: where, as the user named it; empty: the models that come with the stack.
    """
    if model:
        return model
    return DRIVEN_SELECTOR if policy == "learned" and not models_folder else SELECTOR


def needs_state(name: str) -> bool:
    """Return whether a selector needs joint states and tool poses; False for one that cannot be loaded."""
    try:
        return SELECTORS.get(name).needs_state
    except TableError:
        return False


def open_selector(
    name: str, given: Mapping[str, Any] = _NOTHING, shared: Mapping[str, Any] = _NOTHING
) -> SelectorBackend:
    """Return the selector of that name.

    Args:
        name: name of its row.
        given: values of options by their names; they replace the shared ones.
        shared: values of which the selector takes those that are options of its own.

    Raises:
        SourceError: There is none, its package cannot be loaded, or it cannot be used with these options.
    """
    options = SELECTORS.options_of(name, given, shared)
    with SELECTORS.making(name):
        return SELECTORS.get(name).make(options)
