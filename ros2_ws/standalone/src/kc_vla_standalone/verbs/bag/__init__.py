"""`ros2 bag`: bags by the code of kc_vla, under upstream's names."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from ...errors import UsageError
from ...subverbs import Subverb, run_subverb


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    if importlib.util.find_spec("kc_vla") is None:
        raise UsageError("ros2 bag is done by the package kc_vla, which is not built here: run ./setup.sh")
    from . import info, play, record

    subverbs = {
        "record": Subverb("Record topics into a bag", record.add_arguments, record.run),
        "play": Subverb("Publish what is in a bag", play.add_arguments, play.run),
        "info": Subverb("Show what is in a bag", info.add_arguments, info.run),
    }
    return run_subverb("ros2 bag", subverbs, arguments)
