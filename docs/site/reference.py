"""Writes the reference of the site from the code: `python docs/site/reference.py FOLDER`, after `source env.sh`.

The launch files declare the launch arguments, the nodes their parameters. Topics, services and actions with their types
and nodes are read out of the source. Messages come from their own files, commands from their `--help`, and file formats
from the docstrings of the modules that read and write them.
"""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType

from command_line import commands
from file_formats import sections
from topics_in_source import found_topics

ROOT = Path(__file__).resolve().parents[2]
INTERFACES = ROOT / "ros2_ws/src/kc_vla_msgs"
SOURCES = (ROOT / "ros2_ws/src/kc_vla/kc_vla", ROOT / "sim_bridge/kc_vla_sim")
_PLACES = {
    "COLUMNS": "104",
    "LOGNAME": "<user>",
    "XDG_RUNTIME_DIR": "$XDG_RUNTIME_DIR",
    "TMPDIR": "/tmp",
    "ROS_DOMAIN_ID": "0",
}
"""Of this machine, and not to be seen in a default."""
_LESS_SOUGHT = "---\nsearch:\n  boost: 0.2\n---\n"
"""What a search finds in the pages of guidance stands before what it finds in the API."""
_INTERFACES_HEAD = (
    "This page is for everybody who writes or reads the messages of the stack. It shows their files, with the\n"
    "unit and frame of every field.\n"
)
_COMMANDS_HEAD = (
    "This page is for everybody who looks up a command or an option. It has the output of\n"
    "`kc-vla COMMAND --help`; run `source env.sh` before.\n"
)


def cell(text: str) -> str:
    """A text as it can stand in a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def code(value: object) -> str:
    """A value as code, an empty text as nothing."""
    text = str(value).replace("|", "\\|")
    return f"`{text}`" if text else "(empty)"


def launch_arguments() -> str:
    """The page of the launch files."""
    from launch import LaunchContext
    from launch.launch_description_sources import get_launch_description_from_python_launch_file
    from launch_ros.substitutions import FindPackageShare

    context = LaunchContext()
    installed = f"{FindPackageShare('kc_vla').perform(context)}/"
    parts = [
        "# Launch arguments\n",
        "This page is for everybody who looks up an argument of a launch file: `ros2 launch kc_vla FILE name:=value`.\n"
        "`ros2 launch kc_vla FILE --show-args` prints the same.\n",
    ]
    for path in sorted((ROOT / "launch").glob("*.launch.py")):
        docstring = re.search(r'"""(.*?)"""', path.read_text(), re.DOTALL)
        assert docstring is not None, path
        told, *example = docstring[1].strip().split("\n\n")
        parts += [f"## {path.name}\n", told + "\n"]
        parts += [f"```bash\n{lines.strip()}\n```\n" for lines in example if lines.startswith("ros2 ")]
        parts.append("| argument | default | what it is |\n| --- | --- | --- |")
        declared = get_launch_description_from_python_launch_file(str(path)).get_launch_arguments()
        context.launch_configurations.update({argument.name: f"<{argument.name}>" for argument in declared})
        for argument in declared:
            default = "".join(part.perform(context) for part in argument.default_value or ()).removeprefix(installed)
            choices = f" *One of* {', '.join(map(code, argument.choices))}." if argument.choices else ""
            told = cell(argument.description.split(". Valid choices are:")[0])  # ROS adds the choices to it
            parts.append(f"| `{argument.name}` | {code(default)} | {told}.{choices} |")
        parts.append("")
    return "\n".join(parts)


def _modules(package: str) -> list[ModuleType]:
    folder = importlib.import_module(package).__path__
    return [importlib.import_module(f"{package}.{info.name}") for info in pkgutil.iter_modules(folder)]


def parameters() -> str:
    """The page of the nodes' parameters."""
    from kc_vla.ros.base import StackNode
    from kc_vla.ros.parameters import NodeParameters

    parts = [
        "# Parameters\n",
        "This page is for everybody who looks up a parameter of a node: its type, default and bounds.\n"
        "Write those that you change into [a file for `params:=`](../running.md#change-a-parameter). The launch files\n"
        "set some parameters by arguments of their own. Parameters with a * can change while the node runs.\n",
        f"Every node also has {', '.join(f'`{item.name}`' for item in fields(NodeParameters))}.\n",
    ]
    common = {item.name for item in fields(NodeParameters)}
    for module in sorted((*_modules("kc_vla.nodes"), *_modules("kc_vla_sim.nodes")), key=lambda one: one.__name__):
        for kind in vars(module).values():
            if not (isinstance(kind, type) and issubclass(kind, StackNode) and kind.__module__ == module.__name__):
                continue
            parts += [f"## {module.__name__.split('.')[-1]}\n", (module.__doc__ or "").split("\n\n")[0].strip() + "\n"]
            parts.append("| parameter | type | default | allowed | what it is |\n| --- | --- | --- | --- | --- |")
            for item in fields(kind.Parameters):
                if item.name in common:
                    continue
                rule = item.metadata["rule"]
                bounds = f"{'' if rule.low is None else rule.low} .. {'' if rule.high is None else rule.high}"
                allowed = ", ".join(map(code, rule.choices)) or ("" if bounds == " .. " else bounds)
                mark = "" if rule.fixed else "*"
                shown = code(item.default)
                type_name = type(item.default).__name__
                told = cell(rule.description)
                parts.append(f"| `{item.name}`{mark} | {type_name} | {shown} | {allowed} | {told} |")
            parts.append("")
    return "\n".join(parts)


def topics() -> str:
    """The page of the topics, services and actions."""
    parts = [
        "# Topics, services and actions\n",
        "This page is for everybody who subscribes to a topic of the stack, or calls a service or an action. Names\n"
        "are relative: a namespace or a remap moves them. A camera's `image_raw`, `camera_info` and `depth/image` are\n"
        "in the namespace of its view. A name with a dot, such as `ros.arm_link`, is a module of `kc_vla` that\n"
        "several nodes use.\n",
    ]
    rows = found_topics(SOURCES)
    for what, title in (("msg", "Topics"), ("srv", "Services"), ("action", "Actions")):
        parts.append(f"## {title}\n\n| name | type | offered by |\n| --- | --- | --- |")
        for row in rows:
            if row.what == what:
                types = ", ".join(_linked(name) for name in sorted(row.types))
                parts.append(f"| `{row.name}` | {types} | {_places(row.offered)} |")
        parts.append("")
    return "\n".join(parts)


def _places(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _linked(name: str) -> str:
    package, what, kind = name.split("/")
    anchor = f"{package}{what}{kind}".lower()
    return f"[{name}](interfaces.md#{anchor})" if package == INTERFACES.name else f"`{name}`"


def interfaces() -> str:
    """The page of the messages, services and actions of the stack."""
    parts = ["# Messages, services and actions\n", _INTERFACES_HEAD]
    for what, title in (("msg", "Messages"), ("srv", "Services"), ("action", "Actions")):
        parts.append(f"## {title}\n")
        for path in sorted((INTERFACES / what).glob(f"*.{what}")):
            parts += [f"### {INTERFACES.name}/{what}/{path.stem}\n", f"```text\n{path.read_text().strip()}\n```\n"]
    return "\n".join(parts)


def command_line() -> str:
    """The page of the commands."""
    parts = ["# Command line\n", _COMMANDS_HEAD]
    parts += [f"## {command}\n\n```text\n{told.strip()}\n```\n" for command, told in commands()]
    return "\n".join(parts)


def file_formats() -> str:
    """The page of the files."""
    head = (
        "This page is for everybody who writes or reads a file of the stack. Each section has the description in the\n"
        "code, the fields, and an example from the repository.\n"
    )
    return "\n".join(["# File formats\n", head, *sections()])


def api() -> dict[str, str]:
    """A page for each package, with the directives that mkdocstrings follows without importing anything."""
    pages, meanings = {}, {}
    for source in SOURCES:
        for init in sorted(source.glob("*/__init__.py")):
            package = f"{source.name}.{init.parent.name}"
            modules = sorted(
                ".".join((source.name, *path.relative_to(source).with_suffix("").parts))
                for path in init.parent.rglob("*.py")
                if path.name != "__init__.py" and "data" not in path.parts
            )
            meanings[f"api/{package}.md"] = (ast.get_docstring(ast.parse(init.read_text())) or "").partition("\n\n")[0]
            pages[f"api/{package}.md"] = f"{_LESS_SOUGHT}# {package}\n\n" + "\n".join(
                f"::: {name}\n" for name in modules
            )
    index = [
        "# API\n",
        "This page is for everybody who uses the packages in Python. [Architecture](../../architecture.md) says which\n"
        "package imports which.\n",
    ]
    index += [f"- [{Path(name).stem}]({Path(name).name}): {meanings[name]}" for name in pages]
    return {"api/index.md": "\n".join(index) + "\n", **pages}


def main(folder: Path) -> None:
    """Write all pages."""
    os.environ.update(_PLACES)
    pages = {
        "launch_arguments.md": launch_arguments(),
        "parameters.md": parameters(),
        "topics.md": topics(),
        "command_line.md": command_line(),
        "file_formats.md": file_formats(),
        "interfaces.md": interfaces(),
        **api(),
    }
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/site/reference.py FOLDER")
    main(Path(sys.argv[1]))
