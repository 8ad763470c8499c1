"""Package `kc_vla`, built by colcon."""

from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.egg_info import egg_info

NODES = (
    "arm_controller",
    "bag_player",
    "camera",
    "episode_runner",
    "keyframe_buffer",
    "keyboard",
    "keyframe_selector",
    "leader_arm",
    "long_term_memory",
    "piper_emulator",
    "planner",
    "policy_server",
    "recorder",
    "replay_comparison",
    "robot_session",
    "short_term_memory",
    "transforms",
    "viewer",
    "foxglove",
)


FOLDERS = ("launch", "models", "calibration", "rigs")
"""Of the repository's top, linked here: what is below them has the same place in share/kc_vla."""


class WholePackage(egg_info):  # type: ignore[misc]  # its own base class has no types
    """Refuses to build the package without its folders: every way to build or install it begins with this command."""

    def run(self) -> None:
        for folder in FOLDERS:
            if not Path(folder).is_dir():
                raise SystemExit(
                    f"kc_vla: {folder}/ is missing, it is a link to the folder at the top of the repository: "
                    "build in a whole clone, or copy the package with its links followed (cp -rL)"
                )
        super().run()


def files_below(folder: str) -> list[tuple[str, list[str]]]:
    files = [path for path in Path(folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return [(f"share/kc_vla/{path.parent}", [str(path)]) for path in sorted(files)]


setup(
    name="kc_vla",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={
        "kc_vla.annotate": ["page/*"],
        "kc_vla.live": ["page/*"],
        "kc_vla.memory.evaluation": ["data/*"],
        "kc_vla.memory.recall": ["data/*"],
        "kc_vla.planning.execution": ["data/*"],
        "kc_vla.reports.run": ["page/*"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/kc_vla"]),
        ("share/kc_vla", ["package.xml"]),
        *(files for folder in FOLDERS for files in files_below(folder)),
    ],
    cmdclass={"egg_info": WholePackage},
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="kc_vla maintainers",
    maintainer_email="maintainers@kc-vla.example",
    description="A robot stack with a memory",
    license="Apache-2.0",
    entry_points={
        "can.interface": ["kc_vla_socket = kc_vla.arm.emulator.bus:SocketBus"],
        "console_scripts": [
            "kc-vla = kc_vla.cli:main",
            "replay_plan = kc_vla.replay.plan:main",
            *(f"{node} = kc_vla.ros.entry:{node}" for node in NODES),
        ],
    },
)
