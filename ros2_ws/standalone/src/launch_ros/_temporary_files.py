"""Parameter files that a launch writes for its nodes, removed when the launch ends."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._parameter_yaml import parameter_yaml

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext

_GLOBAL = "_launch_ros_parameter_folder"


def write_temporary_parameters(context: LaunchContext, content: Any) -> Path:
    """Write `content` as YAML into the folder of this launch and return the path."""
    folder = context.get_locals_as_dict().get(_GLOBAL)
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="launch_params_"))
        context.extend_globals({_GLOBAL: folder})
        context._at_end(lambda: shutil.rmtree(folder, ignore_errors=True))
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".yaml", delete=False, encoding="utf-8") as file:
        file.write(parameter_yaml(content))
    return Path(file.name)
