"""The simulation: tasks in ManiSkill, their experts, and the bridge to the rest of the stack.

Importing this package registers the tasks with gymnasium.
"""

from kc_vla_sim import envs as envs
