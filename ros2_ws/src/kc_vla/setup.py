"""Package `kc_vla`: colcon builds it for ROS 2, and pip installs it on machines without."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

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
    "perception",
    "planner",
    "policy_server",
    "recorder",
    "replay_comparison",
    "robot_session",
    "short_term_memory",
    "skill_server",
    "stop_relay",
    "transforms",
    "viewer",
    "foxglove",
)

SCRIPTS = ("kc-vla = kc_vla.cli:main",)

FOLDERS = ("launch", "models", "calibration", "robots")
"""Folders of the repository's top that are linked here; their content has the same place in share/kc_vla."""

DEFINITIONS = "kc_vla/bags/interfaces/share/kc_vla_msgs/msg"
"""Linked, too: the messages, for machines without ROS 2."""

SOURCE = os.environ.get("KC_VLA_SOURCE_URL", "")
"""Where the repository is, for the page of the package; a release knows it, a checkout does not."""

VERSION = ElementTree.parse(Path(__file__).resolve().parent / "package.xml").findtext("version")

REQUIRES = (
    "av",
    "fastapi",
    "httpx2",
    "huggingface-hub",
    "jinja2",
    "lz4",
    "matplotlib",
    "mcap",
    "mcap-ros2-support",
    "msgpack",
    "networkx",
    "numpy",
    "onnxruntime",
    "openai",
    "opencv-python-headless>=4.7,<5",
    "pillow",
    "pyarrow",
    "pydantic",
    "pyyaml",
    "pyzmq",
    "scipy<1.17",
    "starlette",
    "tokenizers",
    "tqdm",
    "uvicorn",
    "websockets",
    "zstandard",
)
"""What all that needs no ROS imports; requirements/*.in say why each is there, and the lock files which version.

The offline model of sentences is not among them: its package asks for sentence-transformers and so for torch, of which
the stack needs nothing. A memory that is asked without it says how to install it alone.
"""

ROBOT = ("foxglove-sdk", "piper-sdk==0.6.2", "python-can<5", "ruckig")
MOTION = ("pin>=4.1,<5",)
TRAIN = ("onnx", "safetensors", "torch>=2.13")
EXTRAS = {
    "robot": [*ROBOT],
    "motion": [*MOTION],
    "train": [*TRAIN],
    "household": [f"kc_vla_sim=={VERSION}"],
    "sim": [f"kc_vla_sim[maniskill]=={VERSION}"],
    "libero": [f"kc_vla_sim[maniskill,libero]=={VERSION}"],
}
"""The names by which `kc_vla.core.extras` tells a user what to install; `libero` is `sim` and meshes."""


class WholePackage(egg_info):  # type: ignore[misc]  # its own base class has no types
    """Refuses to build the package without its folders: every way to build or install it begins with this command."""

    def run(self) -> None:
        if {"bdist_wheel", "dist_info"} & {*self.distribution.commands}:
            # A wheel's scripts are on everybody's path, where a `camera` or a `planner` means something else.
            self.distribution.entry_points["console_scripts"] = [*SCRIPTS]
        for folder in (*FOLDERS, DEFINITIONS):
            if not Path(folder).is_dir():
                raise SystemExit(
                    f"kc_vla: {folder}/ is missing, it is a link to the folder at the top of the repository: "
                    "build in a whole clone, or copy the package with its links followed (cp -rL)"
                )
        self.distribution.metadata.long_description = long_description()
        super().run()


def long_description() -> str:
    """Return the README, its links and images leading to the repository; without them where that is not known."""
    readme = Path("README")  # a link, as the folders are
    if not readme.is_file():
        return ""
    text = readme.read_text(encoding="utf-8")
    if SOURCE:
        images, links = rf"\1({SOURCE}/raw/v{VERSION}/\2)", rf"\1({SOURCE}/blob/v{VERSION}/\2)"
        text = re.sub(r"(!\[[^\]]*\])\((?!https?:)([^)]*)\)", images, text)
        return re.sub(r"(?<!!)(\[[^\]]*\])\((?!https?:)([^)]*)\)", links, text)
    text = re.sub(r"^!\[.*\n(\n\*[^*]+\*\n)?", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


def files_below(folder: str) -> list[tuple[str, list[str]]]:
    files = [path for path in Path(folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return [(f"share/kc_vla/{path.parent}", [str(path)]) for path in sorted(files)]


setup(
    name="kc_vla",
    version=VERSION,
    packages=find_packages(exclude=["test"]),
    package_data={
        "kc_vla.annotate": ["page/*"],
        "kc_vla.bags": ["interfaces/share/*/msg/*.msg"],
        "kc_vla.live": ["page/*"],
        "kc_vla.memory.embedding": ["data/*"],
        "kc_vla.memory.evaluation": ["data/*"],
        "kc_vla.memory.recall": ["data/*"],
        "kc_vla.memory.references": ["data/*"],
        "kc_vla.reports.run": ["page/*"],
        "kc_vla.web": ["page/*"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/kc_vla"]),
        ("share/kc_vla", ["package.xml"]),
        *(files for folder in FOLDERS for files in files_below(folder)),
    ],
    cmdclass={"egg_info": WholePackage},
    python_requires=">=3.11",
    install_requires=[*REQUIRES],
    extras_require=EXTRAS,
    zip_safe=True,
    maintainer="kc_vla maintainers",
    maintainer_email="maintainers@kc-vla.example",
    description="A robot stack that remembers: keyframe memory for robot policies, with ROS 2 and without",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    keywords="robotics, ROS 2, imitation learning, vision-language-action, memory, keyframes, LeRobot",
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Image Recognition",
    ],
    project_urls={"Source": SOURCE} if SOURCE else {},
    entry_points={
        "can.interface": ["kc_vla_socket = kc_vla.arm.emulator.bus:SocketBus"],
        "console_scripts": [
            *SCRIPTS,
            "replay_plan = kc_vla.replay.plan:main",
            *(f"{node} = kc_vla.ros.entry:{node}" for node in NODES),
        ],
    },
)
