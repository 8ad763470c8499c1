"""The output of a command that ends at once."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from .substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

_ON_STDERR = ("fail", "ignore", "warn", "capture")


class Command(Substitution):
    """Runs a command while launching and stands for what it prints on stdout.

    `on_stderr` says what text on stderr means: 'fail' (the default), 'warn', 'ignore' or 'capture'.
    """

    def __init__(self, command: SomeSubstitutionsType, *, on_stderr: SomeSubstitutionsType = "fail") -> None:
        from ..utilities import normalize_to_list_of_substitutions

        self._command = normalize_to_list_of_substitutions(command)
        self._on_stderr = normalize_to_list_of_substitutions(on_stderr)

    def perform(self, context: LaunchContext) -> str:
        """Return stdout; SubstitutionFailure if the command is missing, fails, or writes errors."""
        from .. import logging
        from ..utilities import perform_substitutions

        text = perform_substitutions(context, self._command)
        on_stderr = perform_substitutions(context, self._on_stderr)
        if on_stderr not in _ON_STDERR:
            raise SubstitutionFailure(f"on_stderr of Command is one of {_ON_STDERR}, got '{on_stderr}'")
        stderr = subprocess.STDOUT if on_stderr == "capture" else subprocess.PIPE
        try:
            result = subprocess.run(shlex.split(text), stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
        except OSError as error:
            raise SubstitutionFailure(f"command '{text}' cannot be started: {error}") from error
        if result.returncode != 0:
            raise SubstitutionFailure(f"command '{text}' failed with exit code {result.returncode}")
        if result.stderr and on_stderr == "fail":
            raise SubstitutionFailure(f"command '{text}' wrote to stderr: {result.stderr.strip()}")
        if result.stderr and on_stderr == "warn":
            logging.get_logger("launch").warning(f"command '{text}' wrote to stderr: {result.stderr.strip()}")
        return result.stdout

    def describe(self) -> str:
        """Return the call as written."""
        return f"Command({' + '.join(part.describe() for part in self._command)})"
