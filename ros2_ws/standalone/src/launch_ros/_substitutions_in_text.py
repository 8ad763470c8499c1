"""Substitutions written in text, as `$(var speed)`, in parameter files with `allow_substs`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from launch.substitution import Substitution
from launch.substitutions import (
    EnvironmentVariable,
    LaunchConfiguration,
    PythonExpression,
    SubstitutionFailure,
    ThisLaunchFileDir,
)

from .substitutions import ExecutableInPackage, FindPackagePrefix, FindPackageShare

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext

# Innermost first: what stands inside of a substitution has none in it any more.
_INNERMOST = re.compile(r"\$\(\s*(?P<name>[\w-]+)(?P<arguments>[^()$]*)\)")

_MAKERS: dict[str, Callable[..., Substitution]] = {
    "var": lambda name, default=None: LaunchConfiguration(name, default=default),
    "env": lambda name, default=None: EnvironmentVariable(name, default_value=default),
    "find-pkg-share": FindPackageShare,
    "find-pkg-prefix": FindPackagePrefix,
    "exec-in-package": ExecutableInPackage,
    "dirname": ThisLaunchFileDir,
    "eval": PythonExpression,
}


def perform_substitutions_in_text(context: LaunchContext, text: str) -> str:
    """Return `text` with its substitutions performed; SubstitutionFailure names one that is unknown."""
    while match := _INNERMOST.search(text):
        text = text[: match.start()] + _perform(context, match) + text[match.end() :]
    return text


def _perform(context: LaunchContext, match: re.Match[str]) -> str:
    maker = _MAKERS.get(match["name"])
    if maker is None:
        raise SubstitutionFailure(f"unknown substitution '{match[0]}', known are {', '.join(sorted(_MAKERS))}")
    try:
        return maker(*shlex.split(match["arguments"])).perform(context)
    except TypeError as error:
        raise SubstitutionFailure(f"wrong arguments in substitution '{match[0]}': {error}") from error
