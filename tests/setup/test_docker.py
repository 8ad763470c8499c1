"""The images: what Docker would be told is well formed, and makes a stack that does its main job in a bare Debian."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from bare_debian import BareDebian
from dockerfile_parse import DockerfileParser

ROOT = Path(__file__).parents[2]
DOCKERFILES = sorted((ROOT / "docker").glob("*.Dockerfile"))
COMPOSE = ROOT / "docker/compose.yaml"


def lines_of(path: Path) -> list[tuple[str, str]]:
    """Instructions and what stands behind each, in order."""
    parsed = DockerfileParser(fileobj=path.open("rb"), cache_content=True)
    return [(line["instruction"], line["value"]) for line in parsed.structure if line["instruction"] != "COMMENT"]


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.stem)
class TestDockerfile:
    def test_nothing_is_wrong_with_it(self, path: Path) -> None:
        found = subprocess.run(["hadolint", path], capture_output=True, text=True, check=False)
        assert found.stdout == ""
        assert found.returncode == 0

    def test_what_changes_seldom_comes_before_the_code(self, path: Path) -> None:
        lines = lines_of(path)
        packages = next(at for at, (_, value) in enumerate(lines) if "--packages" in value)
        before = " ".join(value for what, value in lines[:packages] if what == "COPY")
        assert before == "setup.sh env.sh ./ setup setup requirements requirements"
        assert ("COPY", ". .") in lines[packages:]

    def test_what_it_copies_is_there(self, path: Path) -> None:
        for what, value in lines_of(path):
            if what == "COPY":
                assert all((ROOT / source).exists() for source in value.split()[:-1])

    def test_it_runs_as_somebody_who_is_not_root(self, path: Path) -> None:
        *_, last = (value for what, value in lines_of(path) if what == "USER")
        assert last == "1000"

    def test_what_it_begins_with_is_there(self, path: Path) -> None:
        (entry,) = (json.loads(value) for what, value in lines_of(path) if what == "ENTRYPOINT")
        assert os.access(ROOT / Path(entry[0]).relative_to("/opt/kc_vla"), os.X_OK)


def test_each_image_is_a_service_with_a_profile() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    assert {COMPOSE.parent.parent / each["build"]["dockerfile"] for each in services.values()} == set(DOCKERFILES)
    for name, service in services.items():
        assert service["profiles"] == [name]
        assert not service.get("privileged")
        assert service.get("ipc") == "host" or service["shm_size"] == "1gb"


def test_the_robots_has_what_a_control_loop_needs() -> None:
    robot = yaml.safe_load(COMPOSE.read_text())["services"]["robot"]
    assert robot["network_mode"] == "host"
    assert robot["ulimits"] == {"rtprio": 99, "memlock": -1}
    assert all(device.startswith("${KC_VLA_") for device in robot["devices"])
    # it is stopped as by Ctrl-C, has the time to park, and an emergency stop is kept where the container's end is none
    assert robot["stop_signal"] == "SIGINT"
    assert int(robot["stop_grace_period"].removesuffix("s")) > 45  # PARK_S of piper.launch.py
    kept = {volume.partition(":")[2] for volume in robot["volumes"]}
    assert any(robot["environment"]["ROS_HOME"].startswith(f"{folder}/") for folder in kept)


def test_the_development_container_is_built_from_an_image_that_there_is() -> None:
    folder = ROOT / ".devcontainer"
    about = json.loads((folder / "devcontainer.json").read_text())
    assert (folder / about["build"]["dockerfile"]).resolve() in DOCKERFILES
    assert (folder / about["build"]["context"]).resolve() == ROOT


def test_what_git_ignores_stays_out_of_the_images() -> None:
    kept_out = {line.strip("/").removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().splitlines()}
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
    assert ignored <= kept_out


@pytest.fixture
def debian(tmp_path: Path) -> Iterator[BareDebian]:
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("needs root and debootstrap: sudo apt-get install debootstrap")
    with BareDebian(tmp_path) as made:
        yield made


@pytest.mark.nightly  # it installs everything
@pytest.mark.timeout(5400)
def test_the_simulators_lines_make_a_stack_that_does_its_main_job(debian: BareDebian) -> None:
    entry: list[str] = []
    for what, value in lines_of(ROOT / "docker/sim.Dockerfile"):
        if what == "RUN":
            debian.run(value)
        elif what == "COPY":
            *sources, to = value.split()
            debian.copy(ROOT, sources, to)
        elif what == "WORKDIR":
            debian.folder = value
        elif what == "USER":
            debian.user = value
        elif what in ("ENTRYPOINT", "CMD"):
            entry += json.loads(value)
        else:
            assert what == "FROM"
            assert value == "debian:bookworm-slim"
    told = debian.run(f"{shlex.join(entry)} variant:=paper")
    assert "1 of 1 episodes succeeded" in told
    assert "episode.mp4" in debian.run("ls runs/*")
