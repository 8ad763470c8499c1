"""The doctor lists what can be chosen by name, with the package that each row comes from."""

import pytest

from kc_vla.core.extras import EXTRAS
from kc_vla.machine.doctor import Patient, looks
from kc_vla.machine.finding import Level
from kc_vla.machine.open_tables import TABLES, look_at_extras, look_at_table


@pytest.mark.parametrize(
    ("name", "package", "row"),
    [
        ("arm drivers", "kc_vla", "piper"),
        ("policies", "kc_vla", "learned"),
        ("selectors", "kc_vla", "rules"),
        ("detectors", "kc_vla", "vision_msgs"),
        ("replacement", "kc_vla", "w-tinylfu"),
        ("simulators", "kc_vla_sim", "toy"),
    ],
)
def test_the_rows_of_each_open_table_are_listed_with_their_package(name, package, row):
    (found,) = look_at_table(name)
    assert (found.name, found.level, found.facts["rows"][row]) == (name, Level.OK, package)
    assert found.what.startswith(f"of {package}: ")
    assert row in found.what
    assert name in looks(Patient())


def test_a_table_whose_package_is_not_there_is_said_to_be_so(monkeypatch):
    monkeypatch.setitem(TABLES, "simulators", "no_such_package.simulators:SIMULATORS")
    (found,) = look_at_table("simulators")
    assert (found.level, found.what) == (Level.OK, "the package no_such_package is not installed")


def test_extras_of_the_package_that_are_missing_are_named_with_what_installs_them(monkeypatch):
    (whole,) = look_at_extras()
    assert (whole.level, whole.what) == (Level.OK, "robot, motion, train, household, sim")
    monkeypatch.setitem(EXTRAS, "train", ("torch", "no_such_module"))
    (found,) = look_at_extras()
    assert (found.level, found.what) == (Level.WARN, "robot, motion, household, sim; not train (no no_such_module)")
    assert "pip install 'kc-vla[train]'" in found.do
    assert "extras" in looks(Patient())
