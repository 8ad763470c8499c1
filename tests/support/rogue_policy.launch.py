"""The graph of maniskill.launch.py with a policy server that answers with garbage in place of the real one."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import ExecuteProcess

ROGUE = Path(__file__).with_name("rogue_policy.py")


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    path = Path(get_package_share_directory("kc_vla")) / "launch" / "maniskill.launch.py"
    spec = spec_from_file_location("maniskill_launch", path)
    assert spec is not None
    assert spec.loader is not None
    real = module_from_spec(spec)
    spec.loader.exec_module(real)
    assert callable(real.mover), "what starts the policy has another name"
    real.mover = lambda context: []
    kept = real.generate_launch_description().entities
    # by the environment's Python: the one that runs this may be the system's
    return LaunchDescription([*kept, ExecuteProcess(cmd=["python", str(ROGUE)], name="rogue", output="screen")])
