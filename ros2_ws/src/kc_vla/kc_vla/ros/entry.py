"""Entry points of the node processes.

A node loads libraries for up to some seconds. An interrupt in that time ends it as it does later, and not with
the traceback of whatever was being imported, nor as a death that a launch would tell among its errors.
"""

from functools import partial
from importlib import import_module

from kc_vla.core.interruptions import interruptions
from kc_vla.core.threads import one_blas_thread


def run(module: str) -> None:
    """Call `main` of the node's module (its full name)."""
    interruptions.count()
    one_blas_thread()
    main = import_module(module).main
    main()


arm_controller = partial(run, "kc_vla.nodes.arm_controller")
bag_player = partial(run, "kc_vla.nodes.bag_player")
camera = partial(run, "kc_vla.nodes.camera")
episode_runner = partial(run, "kc_vla.nodes.episode_runner")
foxglove = partial(run, "kc_vla.nodes.foxglove")
keyframe_buffer = partial(run, "kc_vla.nodes.keyframe_buffer")
keyboard = partial(run, "kc_vla.nodes.keyboard")
keyframe_selector = partial(run, "kc_vla.nodes.keyframe_selector")
leader_arm = partial(run, "kc_vla.nodes.leader_arm")
long_term_memory = partial(run, "kc_vla.nodes.long_term_memory")
perception = partial(run, "kc_vla.nodes.perception")
piper_emulator = partial(run, "kc_vla.nodes.piper_emulator")
planner = partial(run, "kc_vla.nodes.planner")
policy_server = partial(run, "kc_vla.nodes.policy_server")
recorder = partial(run, "kc_vla.nodes.recorder")
replay_comparison = partial(run, "kc_vla.nodes.replay_comparison")
robot_session = partial(run, "kc_vla.nodes.robot_session")
short_term_memory = partial(run, "kc_vla.nodes.short_term_memory")
skill_server = partial(run, "kc_vla.nodes.skill_server")
stop_relay = partial(run, "kc_vla.nodes.stop_relay")
transforms = partial(run, "kc_vla.nodes.transforms")
viewer = partial(run, "kc_vla.nodes.viewer")
