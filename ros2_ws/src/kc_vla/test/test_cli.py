import os
import subprocess
import sys
from pathlib import Path

import pytest
from episode_bag import Script, write_episode

from kc_vla.cli import main
from kc_vla.cli.verbs import VERBS


def test_report_writes_beside_the_bag_and_says_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = write_episode(tmp_path / "bag", Script(steps=50))
    assert main(["report", str(bag), "-o", str(tmp_path / "report")]) == 0
    made = sorted(path.suffix for path in (tmp_path / "report").iterdir())
    assert made == [".jpg", ".json", ".mp4", ".png"]
    told = capsys.readouterr().out
    assert all(str(path) in told for path in (tmp_path / "report").iterdir() if path.name != "poster.jpg")


def test_a_failure_is_one_line_and_exit_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path / "nowhere")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("kc-vla report: ")
    assert told.err.count("\n") == 1
    assert "nowhere" in told.err


@pytest.mark.parametrize("arguments", [[], ["dance"], ["report"], ["train"], ["eval", "dance"]])
def test_bad_arguments_are_exit_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: kc-vla" in capsys.readouterr().err


def test_export_without_a_run_says_that_the_run_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "selector"])
    assert "required: run\n" in capsys.readouterr().err


def test_without_the_simulation_one_line_says_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kc_vla_sim_cli", None)  # as Python marks a module that cannot be imported
    extras = {
        ("sim", "check"): "sim",
        ("collect",): "sim",
        ("eval", "policy"): "sim",
        ("eval", "table1"): "sim,train",
        ("eval", "household"): "household",
    }
    for command, extra in extras.items():
        assert main(command) == 2
        told = capsys.readouterr()
        assert told.out == ""
        where = f"kc_vla_sim_cli is not installed: pip install 'kc-vla[{extra}]', or run ./setup.sh in a checkout\n"
        assert told.err == f"kc-vla {command[0]}: {where}"


@pytest.mark.parametrize(
    ("library", "do"),
    [("libGL.so.1", "apt-get install libgl1"), ("libodd.so.3", "install the system's package that has it")],
)
def test_a_library_that_the_system_lacks_is_one_line(tmp_path: Path, library: str, do: str) -> None:
    error = f"{library}: cannot open shared object file: No such file or directory"
    (tmp_path / "cv2.py").write_text(f"raise ImportError({error!r})")  # as the module that needs the library does
    ended = subprocess.run(
        [sys.executable, "-m", "kc_vla.cli", "calibrate", "board"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == f"kc-vla calibrate: the library {library} is not installed: {do}\n"


def test_without_torch_one_line_says_which_part_of_the_stack_brings_it(tmp_path: Path) -> None:
    words = ["train", "selector", "--data", str(tmp_path), "--output", str(tmp_path / "run")]
    program = f"import sys; sys.modules['torch'] = None; from kc_vla.cli import main; sys.exit(main({words!r}))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 2
    assert ended.stderr == (
        "kc-vla train: torch is not installed: pip install 'kc-vla[train]', or run ./setup.sh in a checkout\n"
    )


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_that_is_listed_has_a_help_of_its_own(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: kc-vla {verb}")


def test_the_list_of_verbs_waits_for_no_heavy_library() -> None:
    program = (
        "import sys; from kc_vla.cli import main\n"
        "try: main(['--help'])\n"
        "finally: print({'numpy', 'yaml', 'cv2', 'torch', 'rclpy', 'onnxruntime'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
