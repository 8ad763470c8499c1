"""Installation of the simulation, by pip and by colcon."""

from setuptools import find_packages, setup

NAME = "kc_vla_sim"

setup(
    name=NAME,
    version="0.1.0",
    description="Memory-dependent manipulation tasks in ManiSkill, their experts, and the bridge to ROS 2.",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={f"{NAME}.household": ["data/*"], f"{NAME}.household.live": ["page/*"]},
    py_modules=[f"{NAME}_cli", f"{NAME}_entry"],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=[
        "fast-simplification",
        "gymnasium",
        "kc_vla",
        "mani-skill",
        "numpy",
        "sapien",
        "scipy",
        "torch",
        "tqdm",
        "trimesh",
    ],
    zip_safe=False,
    entry_points={
        "console_scripts": [
            f"{node} = {NAME}_entry:{node}" for node in ("maniskill_bridge", "household", "home_page", "home_session")
        ],
    },
)
