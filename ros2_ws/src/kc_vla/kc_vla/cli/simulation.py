"""`kc-vla sim`, `kc-vla collect` and `kc-vla eval policy`: verbs of the simulation, no part of a robot."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(words: Sequence[str]) -> int:
    """Leave the command line to the simulation; return the exit status."""
    try:
        from kc_vla_sim_cli import main as simulate
    except ModuleNotFoundError:
        print(f"kc-vla {words[0]}: the package kc_vla_sim is not installed: run ./setup.sh", file=sys.stderr)
        return 2
    status: int = simulate(words[1:] if words[0] == "sim" else words)
    return status
