"""A clone in which nothing has been set up, for tests that run the set-up's scripts."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class UnsetClone:
    """A clone in which nothing has been set up, and the programs that its scripts see."""

    folder: Path
    programs: Path
    environment: dict[str, str] = field(default_factory=dict)

    def remove_program(self, name: str) -> None:
        (self.programs / name).unlink(missing_ok=True)

    def replace_program(self, name: str, script: str) -> None:
        self.remove_program(name)
        (self.programs / name).write_text(f"#!/bin/bash\n{script}\n")
        (self.programs / name).chmod(0o755)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the clone with its programs only; stderr follows stdout in the result's stdout."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env={"PATH": str(self.programs), "HOME": str(self.folder), **self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )

    def call(self, functions: str, **environment: str) -> str:
        """Return what shell code prints that uses the set-up's functions; they are all defined, nothing has run."""
        parts = "; ".join(f'source "$ROOT/setup/{part.name}"' for part in sorted((self.folder / "setup").glob("*.sh")))
        named = 'ROOT="$PWD" VENV="$PWD/.venv" LOG="$PWD/setup.log" USE_APT=yes BUILD= WHEELS='
        prelude = f"set -euo pipefail; {named}; {parts}; "
        result = self.run("bash", "-c", prelude + functions, **environment)
        assert result.returncode == 0, result.stdout
        return result.stdout
