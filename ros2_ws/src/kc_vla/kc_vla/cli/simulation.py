"""`kc-vla sim`, `kc-vla collect` and `kc-vla eval policy`: verbs of the simulation, no part of a robot."""

from __future__ import annotations

from collections.abc import Sequence


def main(words: Sequence[str]) -> int:
    """Leave the command line to the simulation; return the exit status.

    Raises:
        ModuleNotFoundError: The simulation is not installed.
    """
    from kc_vla_sim_cli import main as simulate

    status: int = simulate(words[1:] if words[0] == "sim" else words)
    return status
