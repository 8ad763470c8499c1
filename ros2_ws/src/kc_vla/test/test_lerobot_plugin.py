"""The options of LeRobot's `--policy.type=kc_vla`, with a stand-in for LeRobot, which is not installed here."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PLUGIN = Path(__file__).parents[3] / "plugins/lerobot_policy_kc_vla"


@dataclass
class PreTrainedConfig:
    """As LeRobot's, which checks the device in `__post_init__`."""

    device: str | None = None

    def __post_init__(self) -> None:
        self.checked = True

    @classmethod
    def register_subclass(cls, name: str) -> Any:
        return lambda config: config


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    held: dict[str, dict[str, Any]] = {
        "lerobot.configs.policies": {"PreTrainedConfig": PreTrainedConfig},
        "lerobot.optim.optimizers": {"AdamWConfig": object},
        "lerobot_policy_kc_vla": {"__path__": [str(PLUGIN / "lerobot_policy_kc_vla")]},
    }
    for name in ("lerobot", "lerobot.configs", "lerobot.optim", *held):
        module = ModuleType(name)
        vars(module).update(held.get(name, {}))
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "lerobot_policy_kc_vla.configuration_kc_vla", raising=False)
    found = importlib.import_module("lerobot_policy_kc_vla.configuration_kc_vla")
    monkeypatch.setitem(sys.modules, found.__name__, found)  # taken out again after the test
    return found


def test_the_robot_is_read_by_its_former_name_too_and_written_by_the_new_one(
    config: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    assert config.KcVlaConfig().robot == "panda_sim"
    assert config.KcVlaConfig(robot="piper").robot == "piper"
    assert capfd.readouterr().err == ""
    former = config.KcVlaConfig(rig="piper")
    assert (former.robot, former.rig, former.checked) == ("piper", "", True)
    assert capfd.readouterr().err == "deprecated: policy.rig is called policy.robot\n"
    assert config.KcVlaConfig(rig="piper", robot="piper").robot == "piper"
    with pytest.raises(ValueError, match=r"policy\.robot and policy\.rig are one: set policy\.robot alone"):
        config.KcVlaConfig(rig="piper", robot="piper_h")
