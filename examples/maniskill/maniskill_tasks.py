"""PushCube, PickCube and StackCube of ManiSkill as tasks of the stack, each with an expert."""

import numpy as np
from mani_skill.envs.tasks.tabletop.pick_cube import PickCubeEnv
from mani_skill.envs.tasks.tabletop.push_cube import PushCubeEnv
from mani_skill.envs.tasks.tabletop.stack_cube import StackCubeEnv
from mani_skill.utils.registration import register_env

from kc_vla_sim.experts.hand import facing, nearest_yaw
from kc_vla_sim.experts.path_follower import Leg, PathExpert
from kc_vla_sim.experts.stepwise import StepwiseExpert
from kc_vla_sim.experts.tool import POINTING_DOWN, Tool
from kc_vla_sim.wrapping import WrappedTask

AHEAD, UP = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


@register_env("PushCube-Stack-v1", max_episode_steps=100)
class PushCube(WrappedTask, PushCubeEnv):
    """Push the cube to the target in front of it."""

    def milestones(self, told):
        """The cube begins to move."""
        return [self.obj.linear_velocity.norm(dim=1) > 0.02]


class Pushes(StepwiseExpert):
    """Goes behind the cube, down, and pushes it on."""

    def decide(self, tool):
        """See `StepwiseExpert.decide`."""
        cube = self.world.obj.pose.sp.p
        behind, (x, y, z) = cube - 0.07 * AHEAD, tool.position - cube
        low, before = z < 0.02, x < -0.03
        if low and before and abs(y) < 0.02:
            phase, place = "push", cube + 0.05 * AHEAD
        elif np.linalg.norm(tool.position[:2] - behind[:2]) < 0.015:
            phase, place = "descend", behind
        else:
            phase, place = "approach", behind + 0.08 * UP
        return phase, np.append(tool.delta_towards(place, POINTING_DOWN, 0.02), 0.0)


@register_env("PickCube-Stack-v1", max_episode_steps=150)
class PickCube(WrappedTask, PickCubeEnv):
    """Lift the cube to a place in the air."""

    def milestones(self, told):
        """The cube is grasped."""
        return [told["is_grasped"]]


@register_env("StackCube-Stack-v1", max_episode_steps=200)
class StackCube(WrappedTask, StackCubeEnv):
    """Put the red cube onto the green one."""

    def milestones(self, told):
        """The red cube is grasped, and then stands on the green one."""
        return [told["is_cubeA_grasped"], told["is_cubeA_on_cubeB"]]


class _Grasps(PathExpert):
    """Grasps a cube from above and takes it to a place; a sub-class names both."""

    def leg(self, tool):
        """See `PathExpert.leg`."""
        cube = self.cube.pose.sp
        down = facing(nearest_yaw(2 * np.arctan2(cube.q[3], cube.q[0]), 0.0))
        at, above = Tool(cube.p, down), Tool(cube.p + 0.1 * UP, down)
        if bool(self.world.agent.is_grasping(self.cube)[0]):
            return self.carry(tool)
        off = np.linalg.norm(tool.position - cube.p)
        if off < 0.012:
            return Leg("close", at, 0.0, planned=False)
        if np.linalg.norm(tool.position[:2] - cube.p[:2]) < 0.01:
            return Leg("descend", at, 1.0)
        return Leg("approach", above, 1.0)


class Picks(_Grasps):
    """Expert of PickCube."""

    cube = property(lambda self: self.world.cube)

    def carry(self, tool):
        """To the goal."""
        return Leg("carry", Tool(self.world.goal_site.pose.sp.p, tool.rotation), 0.0)


class Stacks(_Grasps):
    """Expert of StackCube."""

    cube = property(lambda self: self.world.cubeA)

    def carry(self, tool):
        """Up, above the other cube, down, and let go."""
        top = self.world.cubeB.pose.sp.p + 0.04 * UP
        if np.linalg.norm(tool.position - top) < 0.005:
            return Leg("let go", Tool(top, tool.rotation), 1.0, planned=False)
        near = np.linalg.norm(tool.position[:2] - top[:2]) < 0.01
        if not near and tool.position[2] < 0.11:
            return Leg("lift", Tool(np.append(tool.position[:2], 0.14), tool.rotation), 0.0, planned=False)
        return Leg("lower" if near else "carry", Tool(top + (0.0 if near else 0.08) * UP, tool.rotation), 0.0)
