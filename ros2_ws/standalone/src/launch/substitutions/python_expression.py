"""A Python expression, written by the author of the launch file, with substitutions inside."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from .substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class PythonExpression(Substitution):
    """Evaluates an expression; the names of `python_modules` are in scope, `math`'s also without prefix.

    The text comes from the launch file, which is Python code itself, so evaluating it grants nothing new.
    """

    def __init__(self, expression: SomeSubstitutionsType, python_modules: SomeSubstitutionsType = ("math",)) -> None:
        from ..utilities import normalize_to_list_of_substitutions

        self._expression = normalize_to_list_of_substitutions(expression)
        modules = [python_modules] if isinstance(python_modules, str | Substitution) else python_modules
        if not isinstance(modules, Iterable):
            raise TypeError(f"python_modules of PythonExpression has to be names, got {python_modules!r}")
        self._modules = [normalize_to_list_of_substitutions(module) for module in modules]

    def perform(self, context: LaunchContext) -> str:
        """Return the text of the value; SubstitutionFailure says which expression failed and why."""
        from ..utilities import perform_substitutions

        expression = perform_substitutions(context, self._expression)
        scope: dict[str, object] = {}
        for parts in self._modules:
            name = perform_substitutions(context, parts)
            module = importlib.import_module(name)
            scope[name] = module
            if name == "math":
                scope |= {key: value for key, value in vars(module).items() if not key.startswith("_")}
        try:
            return str(eval(expression, scope))
        except Exception as error:
            raise SubstitutionFailure(
                f"Python expression '{expression}' failed: {type(error).__name__}: {error}"
            ) from error

    def describe(self) -> str:
        """Return the call as written."""
        return f"PythonExpr({' + '.join(part.describe() for part in self._expression)})"
