"""`kc-vla export act`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.training import learning_status

_TEXT = """\
Export an ACT policy that LeRobot has trained, for policy:=lerobot: an ONNX file beside LeRobot's own, with the
normalization inside. LeRobot itself is not needed.
"""
_EXAMPLE = """\
example:
  kc-vla export act outputs/train/act/checkpoints/last/pretrained_model
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    parser = argparse.ArgumentParser(
        prog="kc-vla export act",
        description=_TEXT,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkpoint", type=Path, help="folder with LeRobot's config.json and model.safetensors")
    options = parser.parse_args(words[2:])
    return learning_status("export", lambda: _export(options.checkpoint))


def _export(folder: Path) -> None:
    from kc_vla.learning.act.export import export_act

    path, about = export_act(folder.expanduser())
    cameras = ", ".join(f"{key} ({width} x {height})" for key, (height, width) in about.cameras.items())
    told = f"a state of {about.state} numbers" if about.state else "no state"
    print(f"{path}: takes images of {cameras} and {told}, gives {about.chunk} actions of {about.action} numbers")
    print(f"Next: policy:=lerobot checkpoint:={path.parent} with any of the launch files")
