"""The simulation: tasks in ManiSkill, their experts, and the bridge to the rest of the stack.

Importing this package registers the tasks with gymnasium.
"""

import warnings

# SAPIEN brings a Vulkan loader of its own, which serves as well; a missing driver is reported by `renderer`.
warnings.filterwarnings("ignore", message="Failed to find system libvulkan", category=UserWarning)

from kc_vla_sim import envs as envs  # noqa: E402
