"""What building the package kc_vla installs beside its code, and what a copy of it without that says."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ros2_ws/src/kc_vla"
FOLDERS = ("launch", "models", "calibration")


def setup(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "setup.py", "--quiet", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_everything_in_the_linked_folders_is_installed(tmp_path: Path) -> None:
    result = setup(PACKAGE, "egg_info", "--egg-base", str(tmp_path), "install_data", "--install-dir", str(tmp_path))
    assert result.returncode == 0, result.stderr
    share = tmp_path / "share/kc_vla"
    for folder in FOLDERS:
        files = [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()]
        wanted = {path for path in files if "__pycache__" not in path.parts}
        assert wanted
        assert {path.relative_to(share) for path in (share / folder).rglob("*") if path.is_file()} == wanted
        assert all((share / path).read_bytes() == (ROOT / path).read_bytes() for path in wanted)


@pytest.mark.parametrize(
    ("folder", "left"),
    [
        *((folder, "a link to nowhere") for folder in FOLDERS),
        ("launch", "the text of a link"),
        ("launch", "nothing"),
    ],
)
def test_a_copy_of_the_package_without_a_folder_is_refused_in_one_line(tmp_path: Path, folder: str, left: str) -> None:
    copy = tmp_path / "kc_vla"
    shutil.copytree(PACKAGE, copy, symlinks=True, ignore=shutil.ignore_patterns("test"))
    for name in FOLDERS:
        if name != folder:
            (copy / name).unlink()
            (copy / name).symlink_to(ROOT / name)
        elif left != "a link to nowhere":
            (copy / name).unlink()
            if left == "the text of a link":  # git makes such a file where it cannot make links
                (copy / name).write_text(f"../../../{name}")
    result = setup(copy, "egg_info", "--egg-base", str(tmp_path))
    assert result.returncode == 1
    assert result.stderr == (
        f"kc_vla: {folder}/ is missing, it is a link to the folder at the top of the repository: "
        "build in a whole clone, or copy the package with its links followed (cp -rL)\n"
    )
