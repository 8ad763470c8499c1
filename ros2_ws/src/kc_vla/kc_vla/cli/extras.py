"""Says which part of the stack must be installed for a command that lacks one: a wheel does not bring everything."""

from __future__ import annotations

EXTRAS = {
    "robot": ("can", "foxglove", "piper_sdk", "ruckig"),
    "train": ("onnx", "safetensors", "torch"),
    "household": ("kc_vla_sim", "kc_vla_sim_cli"),
    "sim": ("fast_simplification", "gymnasium", "mani_skill", "sapien", "trimesh"),
}
"""The extras of the package, as setup.py has them, and the modules that each of them brings."""

_ROS = ("kc_vla_msgs", "rclpy", "launch", "launch_ros")
SETUP = "run ./setup.sh in a checkout"


def advice(missing: ModuleNotFoundError) -> str:
    """Return one line that says how to install the missing module; empty if no part of the stack brings it."""
    module = (missing.name or "").partition(".")[0]
    if module in _ROS or module.endswith(("_msgs", "_srvs")):
        return f"{module} is not installed, which comes with ROS 2: {SETUP}"
    extra = next((name for name, modules in EXTRAS.items() if module in modules), None)
    return f"{module} is not installed: pip install 'kc-vla[{extra}]', or {SETUP}" if extra is not None else ""
