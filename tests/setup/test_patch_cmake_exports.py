"""The exported CMake files name headers of this machine after the patch."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "setup" / "patch_cmake_exports.py"
FUNCTIONS = runpy.run_path(str(SCRIPT))

EXPORT = """\
set_property(TARGET a PROPERTY INCLUDE_DIRECTORIES "/opt/python/cp312-cp312/include/python3.12;${_PREFIX}/x")
set(b "/opt/python/cp311-cp311/lib/python3.11/site-packages/numpy/_core/include")
"""


def test_both_header_folders_are_replaced_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a" / "cmake").mkdir(parents=True)
    export = tmp_path / "a" / "cmake" / "aExport.cmake"
    export.write_text(EXPORT)
    (tmp_path / "other.cmake").write_text("project(other)\n")
    assert FUNCTIONS["patch_folder"](tmp_path, "/headers/python", "/headers/numpy") == 1
    assert export.read_text() == (
        'set_property(TARGET a PROPERTY INCLUDE_DIRECTORIES "/headers/python;${_PREFIX}/x")\nset(b "/headers/numpy")\n'
    )


def test_a_second_patch_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "aExport.cmake").write_text(EXPORT)
    FUNCTIONS["patch_folder"](tmp_path, "/headers/python", "/headers/numpy")
    assert FUNCTIONS["patch_folder"](tmp_path, "/headers/python", "/headers/numpy") == 0
