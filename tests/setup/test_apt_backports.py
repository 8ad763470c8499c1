"""The source of the backports is the release's own source with another suite, whichever form apt has it in."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPT = Path(__file__).parents[2] / "setup" / "apt_backports.py"
FUNCTIONS = runpy.run_path(str(SCRIPT))

DEB822 = """\
Types: deb deb-src
# http://old.example/debian
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""
ONE_LINE = """\
# deb http://old.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/keys/a.gpg check-valid-until=no] http://mirror.example/debian bookworm main non-free # mirror
"""


def _backports(apt_folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "bookworm", "--apt-folder", str(apt_folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def apt_folder(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_deb822_keeps_mirror_and_key(apt_folder: Path) -> None:
    (apt_folder / "sources.list.d" / "debian.sources").write_text(DEB822)
    assert _backports(apt_folder).stdout == (
        "Types: deb\n"
        "URIs: http://mirror.example/debian\n"
        "Suites: bookworm-backports\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )


def test_one_line_keeps_mirror_and_options(apt_folder: Path) -> None:
    (apt_folder / "sources.list").write_text(ONE_LINE)
    assert _backports(apt_folder).stdout == (
        "Types: deb\n"
        "URIs: http://mirror.example/debian\n"
        "Suites: bookworm-backports\n"
        "Components: main\n"
        "Architectures: amd64\n"
        "Signed-By: /keys/a.gpg\n"
        "Check-Valid-Until: no\n"
    )


def test_an_embedded_key_is_kept(apt_folder: Path) -> None:
    key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----\n"
    text = f"Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\n{key}"
    (apt_folder / "sources.list.d" / "debian.sources").write_text(text)
    assert key.replace("Signed-By:", "Signed-By: ") in _backports(apt_folder).stdout


def test_backports_that_are_there_are_not_added_again(apt_folder: Path) -> None:
    (apt_folder / "sources.list").write_text(ONE_LINE)
    (apt_folder / "sources.list.d" / "own.list").write_text(
        "deb http://mirror.example/debian bookworm-backports main\n"
    )
    result = _backports(apt_folder)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        DEB822.replace("deb deb-src", "deb-src").replace("Types: deb\n", "Types: deb-src\n"),
        "Enabled: no\n" + DEB822,
    ],
)
def test_without_a_source_of_the_release_one_line_says_what_to_do(apt_folder: Path, text: str) -> None:
    (apt_folder / "sources.list.d" / "debian.sources").write_text(text)
    result = _backports(apt_folder)
    assert result.returncode == 1
    assert result.stderr == (
        "no apt source serves 'bookworm main': add 'bookworm-backports main' to apt's sources by hand\n"
    )


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="apt is not installed")
@pytest.mark.parametrize(("name", "text"), [("sources.list.d/debian.sources", DEB822), ("sources.list", ONE_LINE)])
def test_apt_reads_the_result_as_meant(apt_folder: Path, name: str, text: str) -> None:
    (apt_folder / name).write_text(text)
    result = apt_folder / "result" / "backports.sources"
    result.parent.mkdir()
    result.write_text(_backports(apt_folder).stdout)
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={result.parent}"]
    asked = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    command = ["apt-get", "indextargets", "--no-release-info", *options, "--format", asked, "Created-By: Packages"]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    assert set(lines) == {"http://mirror.example/debian/ bookworm-backports main"}


_word = st.text("abcdefghijklmnopqrstuvwxyz0123456789/.:_", min_size=1)


@given(st.dictionaries(st.from_regex(r"[a-z]{2,8}(-[a-z]{2,8})?", fullmatch=True), _word, min_size=1))
def test_a_stanza_survives_writing_and_reading(stanza: dict[str, str]) -> None:
    assert FUNCTIONS["parse_deb822"](FUNCTIONS["format_deb822"](stanza)) == [stanza]


@given(st.text())
def test_any_text_is_read_without_an_exception(text: str) -> None:
    assert isinstance(FUNCTIONS["parse_deb822"](text), list)
    assert isinstance(FUNCTIONS["parse_one_line"](text), list)
