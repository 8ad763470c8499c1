"""Parameter files of ROS, `params:=`: looked at before a node is started, since rcl takes much for one that is none."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import parsed_yaml, read_text

_PARAMETERS = "ros__parameters"
_ANY = {"*", "**"}
"""Names that mean several nodes."""
_MOST_BYTES = 1 << 20
SIMULATED = {"maniskill_bridge", "household", "home_page", "home_session"}
"""The nodes of the package kc_vla_sim, which may not be there."""


class ParameterFileError(RuntimeError):
    """A file that names no parameters of nodes."""


def check_parameter_file(path: Path) -> None:
    """See that a file names nodes of the stack and the parameters of each, as ROS has it.

    Raises:
        ParameterFileError: it cannot be read, is something else, or names a node that there is not.
    """
    try:
        content = parsed_yaml(read_text(path, _MOST_BYTES))
    except FileNotFoundError:
        raise ParameterFileError(f"parameter file '{path}' does not exist") from None
    except OSError as error:
        raise ParameterFileError(f"parameter file '{path}' cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ParameterFileError(f"parameter file '{path}' {error}") from error
    if not _names_nodes(content):
        raise ParameterFileError(f"'{path}' is no parameter file: it must name nodes, each with its {_PARAMETERS}")
    known = node_names()
    for name in sorted(_nodes(content) - known - _ANY):
        near = get_close_matches(name, known, 1)
        meant = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(sorted(known))}"
        raise ParameterFileError(f"'{path}': there is no node '{name}': {meant}")


def node_names() -> set[str]:
    """The nodes of the stack."""
    here = {path.stem for path in (Path(__file__).parents[1] / "nodes").glob("*.py")} - {"__init__"}
    return here | SIMULATED


def _nodes(content: Any) -> set[str]:
    """The names of nodes in it, without their namespaces."""
    found: set[str] = set()
    for name, inner in content.items():
        found |= {name.rpartition("/")[2]} if inner.keys() == {_PARAMETERS} else _nodes(inner)
    return found


def _names_nodes(content: Any) -> bool:
    """Whether all branches end in parameters, below the names of nodes and perhaps of their namespaces."""
    if not isinstance(content, dict) or not content or _PARAMETERS in content:
        return False
    return all(isinstance(name, str) and _is_node(inner) for name, inner in content.items())


def _is_node(content: Any) -> bool:
    if isinstance(content, dict) and content.keys() == {_PARAMETERS}:
        return isinstance(content[_PARAMETERS], dict | None)
    return _names_nodes(content)
