"""Give each pytest process a ROS domain of its own: test runs and stacks on one machine never hear one another."""

import gc
import os
import random
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import shared_memory
from domain_coordinator import domain_id
from hypothesis import settings

# What was compared is told where one of their assertions fails.
pytest.register_assert_rewrite("finished_run", "imported_bag")

# No example fails for being slow: other work is no fault of the code. The suite tries the same examples each time; a
# night (tests/run --all) tries others.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("nightly", deadline=None, max_examples=500)
settings.load_profile("suite")

_DISCOVERY_PORT_BASE = 7400
_PORTS_PER_DOMAIN = 250
_FIRST_PARTICIPANT_OFFSET = 10


def _is_silent(domain: int) -> bool:
    """Return whether no participant of this machine is in `domain`: the first one would hold this UDP port."""
    port = _DISCOVERY_PORT_BASE + _PORTS_PER_DOMAIN * domain + _FIRST_PARTICIPANT_OFFSET
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """How `pytest -n` deals the tests out: as in tests/support/dealing.py, what takes longest first."""
    from dealing import ByFile  # without -n nothing of xdist is needed

    config.option.loadscopereorder = False
    return ByFile(config, log)


def pytest_collection_finish() -> None:
    """Leave all that is loaded by now out of garbage collections, which would look through it again and again."""
    gc.collect()
    gc.freeze()


@contextmanager
def _free_domain() -> Iterator[int]:
    """Reserve a free domain between 1 and 100."""
    candidates = iter([domain for domain in random.sample(range(1, 101), 100) if _is_silent(domain)])
    with domain_id(selector=lambda: next(candidates)) as domain:
        base = _DISCOVERY_PORT_BASE + _PORTS_PER_DOMAIN * domain
        shared_memory.clear(range(base, base + _PORTS_PER_DOMAIN))
        yield domain


@pytest.fixture(scope="session", autouse=True)
def ros_domain() -> Iterator[int]:
    """The domain of this process and of the nodes that it starts."""
    with _free_domain() as domain:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        yield domain


@pytest.fixture(scope="session", autouse=True)
def own_maps(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Trainings of tests take nothing from those of the user, and leave nothing among them."""
    os.environ["KC_VLA_MAPS"] = str(tmp_path_factory.mktemp("maps"))


@pytest.fixture
def other_domain() -> Iterator[int]:
    """A second domain, for a test that runs two stacks at once."""
    with _free_domain() as domain:
        yield domain


@pytest.fixture(scope="session", autouse=True)
def interrupts_count() -> None:
    """A shell lets its background jobs ignore interrupts, and their children too; what is tested here must not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def piper_meshes() -> None:
    """The meshes of a simulated Piper; where there is no package index and no cache, its tests are skipped."""
    from kc_vla_sim.errors import RobotMeshError
    from kc_vla_sim.robots.piper_meshes import mesh_folder

    try:
        mesh_folder()
    except RobotMeshError as error:
        pytest.skip(str(error))
