"""YAML as the parser of the ROS client library reads it."""

from __future__ import annotations

from typing import Any

import yaml


class _QuotingDumper(yaml.SafeDumper):
    """Quotes every string: rcl takes more bare words for truth values (`y`, `n`) than YAML libraries do."""


_QuotingDumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def parameter_yaml(content: Any) -> str:
    """Return a parameter file's text."""
    return yaml.dump(content, Dumper=_QuotingDumper, default_flow_style=False, width=float("inf"))


def parameter_value_yaml(value: Any) -> str:
    """Return one value on one line, typed so that rcl reads the same type back."""
    text: str = yaml.dump(value, Dumper=_QuotingDumper, default_flow_style=True, width=float("inf"))
    return text.removesuffix("\n").removesuffix("\n...")
