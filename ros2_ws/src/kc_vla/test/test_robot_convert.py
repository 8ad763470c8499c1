"""A file of `rigs/` is read as the robot file that is written from it, or it is refused and nothing is written."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import RobotError, load_robot
from kc_vla.core.share import share
from kc_vla.description.convert import convert

FORMER = Path(__file__).parent / "former_robot_files"


@pytest.mark.parametrize("turn", [180.0, -180.0, 90.0])
def test_an_older_zero_of_half_a_turn_is_converted(tmp_path: Path, turn: float) -> None:
    content = yaml.safe_load((FORMER / "piper.yaml").read_text())
    content["older"]["links"] = [list(row) for row in content["links"]]
    content["older"]["links"][1][3] += turn
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(content))
    convert(tmp_path / "old.yaml", tmp_path / "new.yaml")
    former, new = load_robot(str(tmp_path / "old.yaml")), load_robot(str(tmp_path / "new.yaml"))
    angles = np.linspace(former.limits.lowest, former.limits.highest, 5)
    one, two = (Kinematics(each.links_of("S-V1.5-2")).flange(angles) for each in (former, new))
    np.testing.assert_allclose(one, two, atol=1e-9)


@pytest.mark.parametrize("name", sorted(file.stem for file in FORMER.glob("*.yaml")))
def test_a_file_of_before_is_read_as_the_one_that_is_written_from_it(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    former = load_robot(str(FORMER / f"{name}.yaml"))
    load_robot(str(FORMER / f"{name}.yaml"))
    (line,) = capfd.readouterr().err.splitlines()
    assert re.match(rf"deprecated: .*{name}\.yaml has the format of rigs/: .*kc-vla robot convert .*{name}\.yaml", line)
    convert(FORMER / f"{name}.yaml", tmp_path / "new.yaml")
    new, shipped = load_robot(str(tmp_path / "new.yaml")), load_robot(name)
    assert (former.driver, former.interface) == (new.driver, new.interface)
    for other, close in ((new, 1e-12), (shipped, 1e-3)):  # the Panda's limits were rounded to degrees
        for key in ("name", "joints", "gripper", "opening", "robot_type", "columns", "cameras", "control_rate"):
            assert getattr(former, key) == getattr(other, key)
        assert (former.base_frame, former.tool_frame) == (other.base_frame, other.tool_frame)
        for one, two in ((former.rest, other.rest), (former.limits.lowest, other.limits.lowest)):
            np.testing.assert_allclose(one, two, atol=close)
        np.testing.assert_allclose(former.limits.highest, other.limits.highest, atol=close)
        assert (former.limits.speed <= other.limits.speed + close).all()
        if former.links is None:
            continue
        for firmware in ("", "S-V1.5-2"):
            angles = np.linspace(former.limits.lowest, former.limits.highest, 7)
            one, two = (Kinematics(each.links_of(firmware)).flange(angles) for each in (former, other))
            np.testing.assert_allclose(one, two, atol=1e-9)


def test_what_cannot_be_converted_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    content = yaml.safe_load((FORMER / "piper.yaml").read_text())
    content["older"]["links"][5][2] += 0.01
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(RobotError, match=r"old\.yaml: the links of 'older' differ in more than the zero of joints"):
        convert(tmp_path / "old.yaml", tmp_path / "new.yaml")
    with pytest.raises(RobotError, match="it has not the format of rigs/"):
        convert(share("robots") / "piper.yaml", tmp_path / "new.yaml")
    (tmp_path / "new.urdf").write_text("mine")
    with pytest.raises(RobotError, match=r"new\.urdf is there already: name another file"):
        convert(FORMER / "piper.yaml", tmp_path / "new.yaml")
    assert {file.name for file in tmp_path.iterdir()} == {"old.yaml", "new.urdf"}
    assert (tmp_path / "new.urdf").read_text() == "mine"
