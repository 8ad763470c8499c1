"""Package `kc_vla`, built by colcon."""

from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

NODES = (
    "arm_controller",
    "bag_player",
    "camera",
    "episode_runner",
    "keyframe_buffer",
    "keyboard",
    "keyframe_selector",
    "leader_arm",
    "piper_emulator",
    "policy_server",
    "recorder",
    "replay_comparison",
    "robot_session",
)

setup(
    name="kc_vla",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"kc_vla.annotate": ["page/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/kc_vla"]),
        ("share/kc_vla", ["package.xml"]),
        ("share/kc_vla/launch", glob("launch/*.launch.py")),
        ("share/kc_vla/launch/desk", glob("launch/desk/*")),
        ("share/kc_vla/launch/params", glob("launch/params/*")),
        *((f"share/kc_vla/{path.parent}", [str(path)]) for path in Path("models").rglob("*") if path.is_file()),
    ],
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
            "replay_plan = kc_vla.bags.replay_plan:main",
            *(f"{node} = kc_vla.nodes.entry:{node}" for node in NODES),
        ],
    },
)
