"""Says which part of the stack must be installed for a command that lacks one: a wheel does not bring everything."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "robot": ("can", "foxglove", "piper_sdk", "ruckig"),
    "motion": ("coal", "pinocchio"),
    "train": ("onnx", "safetensors", "torch"),
    "household": ("kc_vla_sim", "kc_vla_sim_cli"),
    "sim": ("fast_simplification", "gymnasium", "mani_skill", "sapien", "trimesh"),
}
"""The extras of the package, as setup.py has them, and the modules that each of them brings."""

SETUP = "run ./setup.sh in a checkout"
_ROS = ("kc_vla_msgs", "rclpy", "launch", "launch_ros")
_NO_LIBRARY = ": cannot open shared object file"
_OF_DEBIAN = {"libGL": "libgl1", "libX11": "libx11-6", "libglib-2": "libglib2.0-0", "libgthread-2": "libglib2.0-0"}
"""Beginning of a library's name, and the package of Debian and Ubuntu with it: what wheels expect of a system."""


def install(extras: str) -> str:
    """Return the command that installs these extras, in names with commas between them."""
    return f"pip install 'kc-vla[{extras}]'"


def missing_extras() -> dict[str, list[str]]:
    """Return the extras that are not installed as a whole, each with the modules that are missing."""
    missing = {name: [each for each in modules if find_spec(each) is None] for name, modules in EXTRAS.items()}
    return {name: modules for name, modules in missing.items() if modules}


def advice(error: ImportError, extras: str = "") -> str:
    """Return one line that says how to install what an import lacks; empty if no part of the stack brings it.

    Args:
        error: of the import.
        extras: all that the command needs, with commas between them; empty: the one that brings the module.
    """
    library, found, _ = str(error).partition(_NO_LIBRARY)
    if found:
        package = next((name for start, name in _OF_DEBIAN.items() if library.startswith(start)), "")
        of_system = f"apt-get install {package}" if package else "install the system's package that has it"
        return f"the library {library} is not installed: {of_system}"
    module = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if module in _ROS or module.endswith(("_msgs", "_srvs")):
        return f"{module} is not installed, which comes with ROS 2: {SETUP}"
    extra = next((name for name, modules in EXTRAS.items() if module in modules), "")
    return f"{module} is not installed: {install(extras or extra)}, or {SETUP}" if extra else ""
