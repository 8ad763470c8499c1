import subprocess
import sys


def test_ends_a_process_whose_interpreter_is_held_with_the_code_that_was_given() -> None:
    held = (
        "import ctypes; from kc_vla.core.deadline import exit_after; exit_after(0.2, 7); ctypes.PyDLL(None).sleep(600)"
    )
    assert subprocess.run([sys.executable, "-c", held], timeout=60, check=False).returncode == 7
