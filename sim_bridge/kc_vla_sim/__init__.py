"""The simulation: tasks in ManiSkill, their experts, a toy robot, and the bridge to the rest of the stack."""

import warnings

# SAPIEN brings a Vulkan loader of its own, which serves as well; a missing driver is reported by `renderer`.
warnings.filterwarnings("ignore", message="Failed to find system libvulkan", category=UserWarning)
