#!/usr/bin/env bash
# ManiSkill: of two environments that are registered under one id, the first stays; in Gymnasium it is the second.
#
# Guess:  `@register_env("Task-v1")` replaces an environment of that id, as gymnasium.register does. So a changed copy
#         of a task, imported last, is what gym.make("Task-v1") makes.
# Truth:  ManiSkill logs "already registered. Skip registration." and keeps the first, also with other keywords or
#         another limit of steps. The decorated class is returned all the same, so a test of the class passes while
#         every training that goes by the id runs the other one. Give an id of your own, or override=True.
# Seen:   mani-skill 3.0.1, gymnasium 1.4.0, 2026-11-29.
# Source: mani_skill/utils/registration.py, register_env; gymnasium/envs/registration.py, register.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq mani-skill==3.0.1 gymnasium==1.4.0 torch==2.13.0 "numpy<3" setuptools
"$folder/venv/bin/python" - <<'PROGRAM'
import importlib.metadata
import sys
import warnings

import gymnasium
from mani_skill.envs.sapien_env import BaseEnv
from mani_skill.utils.registration import REGISTERED_ENVS, register_env

warnings.simplefilter("ignore")


class First(gymnasium.Env):
    """Stands for a task."""


class Second(First):
    """Stands for its changed copy."""


for task in (First, Second):
    gymnasium.register("Plain-v1", entry_point=task)
made = type(gymnasium.make("Plain-v1", disable_env_checker=True).unwrapped).__name__


@register_env("Task-v1", max_episode_steps=50)
class FirstTask(BaseEnv):
    """Stands for a task."""


@register_env("Task-v1", max_episode_steps=200)
class SecondTask(BaseEnv):
    """Stands for its changed copy."""


kept = REGISTERED_ENVS["Task-v1"]
for package in ("mani-skill", "gymnasium"):
    print(package, importlib.metadata.version(package))
print(f"gymnasium makes the {made} of two registrations of one id")
print(f"ManiSkill keeps the {kept.cls.__name__}, with {kept.max_episode_steps} steps")
if made != "Second" or kept.cls is not FirstTask or kept.max_episode_steps != 50:
    sys.exit("CHANGED: both keep the first, or both the second.")
print("As recorded: ManiSkill skips the second registration.")
PROGRAM
