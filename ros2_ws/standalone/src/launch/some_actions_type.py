"""Type of arguments that take one action or several."""

from collections.abc import Iterable

from .action import Action

SomeActionsType = Action | Iterable[Action]
