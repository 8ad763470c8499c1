"""Gives a parameter file to the nodes that follow in the same scope."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from launch.action import Action
from launch.condition import Condition
from launch.some_substitutions_type import SomeSubstitutionsType

from .._global_settings import add_global_parameter
from ..parameter_descriptions import ParameterFile

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext


class SetParametersFromFile(Action):
    """Gives a parameter file to nodes; the parameters of a node itself come later and win."""

    def __init__(
        self,
        filename: os.PathLike[str] | SomeSubstitutionsType | ParameterFile,
        *,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._file = filename if isinstance(filename, ParameterFile) else ParameterFile(filename)

    def execute(self, context: LaunchContext) -> None:
        """Add the file to the scope; FileNotFoundError if there is none."""
        path = self._file.evaluate(context).absolute()
        if not path.is_file():
            raise FileNotFoundError(f"parameter file '{path}' does not exist")
        add_global_parameter(context, path)
