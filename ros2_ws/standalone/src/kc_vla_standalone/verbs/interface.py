"""`ros2 interface`: definitions of messages, services and actions, from the files of their packages."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import UsageError
from ..packages import package_share
from ..subverbs import Subverb, run_subverb

# The type at the beginning of a field: with a package or without, before array brackets and the field's name.
_FIELD = re.compile(r"^(?P<package>\w+/)?(?P<name>[A-Z]\w*)(\[[^\]]*\])?\s+\w+")


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 interface", _SUBVERBS, arguments)


def definition_lines(type_name: str, *, comments: bool) -> Iterator[str]:
    """Yield the lines of a definition, each field of another message type followed by its own, indented."""
    package, path = _file_of(type_name)
    for line in path.read_text(encoding="utf-8").splitlines():
        if not comments and line.strip().startswith("#"):
            continue
        if not comments:
            line = line.partition("#")[0].rstrip() if "=" not in line else line
            if not line:
                continue
        yield line
        field = _FIELD.match(line)
        if field is not None:
            nested = f"{(field['package'] or package).rstrip('/')}/msg/{field['name']}"
            yield from (f"\t{inner}" for inner in definition_lines(nested, comments=False))


def _file_of(type_name: str) -> tuple[str, Path]:
    parts = type_name.split("/")
    if len(parts) == 2:
        parts = [parts[0], "msg", parts[1]]
    if len(parts) != 3 or parts[1] not in ("msg", "srv", "action"):
        raise UsageError(f"'{type_name}' is no type name; write it like 'sensor_msgs/msg/Image'")
    package, kind, name = parts
    path = package_share(package) / kind / f"{name}.{kind}"
    if not path.is_file():
        names = sorted(file.stem for file in path.parent.glob(f"*.{kind}"))
        raise UsageError(f"package '{package}' has no {kind} '{name}' (it has: {', '.join(names) or 'none'})")
    return package, path


def _add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("type", help="the type, such as sensor_msgs/msg/Image")
    parser.add_argument("--no-comments", action="store_true", help="leave comments and empty lines out")


def _show(options: argparse.Namespace) -> None:
    for line in definition_lines(options.type, comments=not options.no_comments):
        print(line)


_SUBVERBS = {"show": Subverb("Print a definition", _add_show_arguments, _show)}
