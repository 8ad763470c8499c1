"""Makes the environment that the task table names, and sees that it has what the simulator asks of it."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
from mani_skill.utils.registration import REGISTERED_ENVS

from kc_vla.core.tasks import Task
from kc_vla_sim.choices import STANDARD, STANDARD_ASSETS, STANDARD_LOOKS
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.errors import BadAssetsError, BadLooksError, BadTaskError, BadVariantError
from kc_vla_sim.geometry import VIEWS
from kc_vla_sim.robot import CONTROL_RATE

CONTROL_MODES = ("pd_ee_delta_pose", "pd_joint_pos")
"""Controllers of the robot that the simulator chooses between, step by step."""
FREE_STEPS = 36_000
"""Steps of an episode that follows no script, 30 minutes."""
_BASE_OFF = 0.01
"""The stack's poses are in the frame of a robot that stands so near to its place, m."""
_METHODS = ("pictures", "detections", "keyframes_until_now", "decisions_until_now")
_HOW = "put kc_vla_sim.wrapping.WrappedTask before it among its bases (docs/your_own_task.md)"


def make_environment(
    task: Task,
    variant: str,
    looks: str,
    whims: bool,
    assets: str = STANDARD_ASSETS,
    tour: bool = True,
    **settings: Any,
) -> Any:
    """Make the environment of `task`.

    Args:
        task: of the task table, with an environment.
        variant: a name in `kc_vla_sim.choices.VARIANTS`; an environment that takes no `variant` has one alone.
        looks: a name in `kc_vla_sim.choices.LOOKS`; likewise.
        whims: whether the expert draws for itself; only an environment that takes `whims` is asked to leave it.
        assets: a name in `kc_vla_sim.choices.ASSETS`; an environment that takes no `assets` has one set alone.
        tour: False leaves out what an environment does by itself, and lets an episode take `FREE_STEPS` steps.
        settings: for `gymnasium.make`, beside these.

    Raises:
        BadTaskError: it is not registered, or lacks something; the line says what.
        BadVariantError, BadLooksError, BadAssetsError: it has no other than the standard ones.
    """
    _spare_libraries_the_collector()
    told = f"the environment '{task.environment}' of task '{task.name}'"
    try:
        taken = _taken_by(task.environment)
        if taken is not None and "variant" not in taken and variant != STANDARD:
            raise BadVariantError(f"no variant '{variant}': {told} has '{STANDARD}' alone")
        if taken is not None and "looks" not in taken and looks != STANDARD_LOOKS:
            raise BadLooksError(f"no looks '{looks}': {told} has '{STANDARD_LOOKS}' alone")
        if taken is not None and "assets" not in taken and assets != STANDARD_ASSETS:
            raise BadAssetsError(f"no assets '{assets}': {told} has '{STANDARD_ASSETS}' alone, task kitchen has others")
        asked = {"variant": variant, "looks": looks, "assets": assets, **({} if whims else {"whims": False})}
        if not tour:
            if taken is not None and "tour" not in taken:
                raise BadTaskError(f"{told} has no tour that can be left out: only the kitchen has one")
            settings = {**settings, "tour": False, "max_episode_steps": FREE_STEPS}
        known: dict[str, Any] = {name: value for name, value in asked.items() if taken is None or name in taken}
        env = gymnasium.make(task.environment, **(settings | known))
    except (gymnasium.error.Error, ImportError) as error:
        raise BadTaskError(" ".join(f"{told} cannot be loaded: {error}".split())) from error
    if lacks := list(_lacks(env.unwrapped)):
        env.close()
        raise BadTaskError(f"{told} has no {', no '.join(lacks)}: {_HOW}")
    return env


@cache
def _spare_libraries_the_collector() -> None:
    """Leave what is loaded by now out of garbage collections, once in a process.

    ManiSkill collects garbage with each scene, and most of a reset would go into looking through its libraries.
    """
    gc.collect()
    gc.freeze()


def _taken_by(environment: str) -> frozenset[str] | None:
    """Return the names of the arguments that the class of an environment takes; None where any name might be one."""
    module, _, name = environment.rpartition(":")
    if module:
        import_module(module)
    if (spec := REGISTERED_ENVS.get(name)) is None:  # it may be an alias, or be no ManiSkill environment
        made = gymnasium.spec(name).entry_point
        spec = REGISTERED_ENVS.get(getattr(made, "keywords", {}).get("env_id", ""))
    return None if spec is None else _arguments(spec.cls)


def _arguments(made: type) -> frozenset[str] | None:
    """Return the names that a class takes in its constructor, and hands on to those of its bases."""
    names: set[str] = set()
    for each in made.__mro__:
        if "__init__" not in vars(each) or each is object:
            continue
        parameters = inspect.signature(vars(each)["__init__"]).parameters.values()
        names.update(parameter.name for parameter in parameters)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return frozenset(names)
    return None


def _lacks(world: Any) -> Iterator[str]:
    """Yield what the simulator asks of an environment that is not there, in words."""
    yield from (f"{name}()" for name in _METHODS if not callable(getattr(world, name, None)))
    if not hasattr(type(world), "failure_reason") and not hasattr(world, "failure_reason"):
        yield "failure_reason"
    sensors = getattr(world, "_sensors", {})
    yield from (f"camera '{view}'" for view in VIEWS if view not in sensors)
    agent = getattr(world, "agent", None)
    modes = getattr(agent, "supported_control_modes", ())
    yield from (f"controller '{mode}' of its robot" for mode in CONTROL_MODES if mode not in modes)
    if not hasattr(agent, "tcp"):
        yield "tool centre point ('agent.tcp') of its robot"
    if (rate := getattr(world, "control_freq", CONTROL_RATE)) != CONTROL_RATE:
        yield f"{CONTROL_RATE} control steps a second (it has {rate})"
    base = getattr(getattr(agent, "robot", None), "pose", ROBOT_BASE)
    if abs(np.ravel(base.p) - ROBOT_BASE.p).max() > _BASE_OFF:
        yield f"robot at {ROBOT_BASE.p.tolist()} m (it is at {np.ravel(base.p).tolist()})"
