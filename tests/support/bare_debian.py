"""A Debian 12 with nothing in it but what debootstrap puts there, to run in it what an image is made by."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_MIRROR = "http://deb.debian.org/debian"
_SYSTEM = ("proc", "sys", "dev", "dev/shm")
_TRUSTED = "etc/ssl/of_this_machine.crt"
"""Certificates that pip is told of on this machine; those in their usual place are made anew with their package."""


class BareDebian:
    """See the module; ended, nothing is left mounted.

    Attributes:
        folder: in which the next line runs, as WORKDIR says.
        user: who runs it, as USER says.
    """

    def __init__(self, work: Path) -> None:
        """Args: `work` gets the root file system, some 8 GB in the end."""
        self.root = work / "root"
        self.folder, self.user = "/", "root"
        self._mounted: list[Path] = []

    def __enter__(self) -> Self:
        made = os.environ.get("KC_VLA_BARE_DEBIAN")  # one that was made before, which is not changed
        if made is None:
            subprocess.run(["debootstrap", "--variant=minbase", "bookworm", self.root, _MIRROR], check=True)
        else:
            subprocess.run(["cp", "--archive", made, self.root], check=True)
        for name in _SYSTEM:
            self._bind(Path("/") / name)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        self._pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        if "PIP_CERT" in self._pip:
            (self.root / _TRUSTED).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self._pip["PIP_CERT"], self.root / _TRUSTED)
            self._pip["PIP_CERT"] = f"/{_TRUSTED}"
        for folder in self._pip_folders():
            self._bind(folder)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for mounted in reversed(self._mounted):
            subprocess.run(["umount", "--lazy", mounted], check=True)

    def run(self, line: str) -> str:
        """What a line of a shell says; AssertionError with its end where it fails."""
        inside = f'cd "{self.folder}" && {line}'
        home = next(fields[5] for fields in self._users() if self.user in (fields[0], fields[2]))
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        chroot = ["chroot", f"--userspec={self.user}:{self.user}", self.root, "/bin/bash", "-c", inside]
        found = subprocess.run(
            chroot,
            env={"PATH": path, "HOME": home, "DEBIAN_FRONTEND": "noninteractive", **self._pip},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert found.returncode == 0, f"{line}\n{found.stdout[-4000:]}"
        return found.stdout

    def copy(self, context: Path, sources: Sequence[str], to: str) -> None:
        """Copy what git has of `sources` in `context` to a place in `folder`."""
        into = self.root / self.folder.lstrip("/") / to
        named = subprocess.run(["git", "ls-files", *sources], cwd=context, capture_output=True, text=True, check=True)
        for name in named.stdout.splitlines():
            (source,) = (each for each in sources if Path(name).is_relative_to(each))
            is_file = name == source
            there = into / (Path(name).name if is_file else Path(name).relative_to(source))
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(context / name, there, follow_symlinks=False)

    def _bind(self, path: Path) -> None:
        there = self.root / str(path).lstrip("/")
        there.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", path, there], check=True)
        self._mounted.append(there)

    def _users(self) -> list[list[str]]:
        return [line.split(":") for line in (self.root / "etc/passwd").read_text().splitlines()]

    @staticmethod
    def _pip_folders() -> list[Path]:
        """Folders of wheels that pip is told of on this machine."""
        return [Path(word) for word in os.environ.get("PIP_FIND_LINKS", "").split() if Path(word).is_dir()]
