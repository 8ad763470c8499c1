"""Makes the table of what is likely where, of the development scenes alone.

`python -m kc_vla_sim.household.likely ANNOTATED.jsonl.gz` counts, for each type, on or in what ALFRED's annotated
plans pick it up, and writes that where `kc_vla.memory.references.likely_places` reads it.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kc_vla.memory.references.likely_places import FILE
from kc_vla_sim.household.alfred import type_of
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.scenes import split_of
from kc_vla_sim.household.types import FLOOR


def counts(annotated: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Return for each type that occurs in a development scene from what it is picked up, and how often.

    Args:
        annotated: tasks with `scene` and `plan`, whose steps are [action, arguments, object id, receptacle].
    """
    found: dict[str, Counter[str]] = {}
    for about in annotated:
        if split_of(int(about["scene"].removeprefix("FloorPlan"))) != "development":
            continue
        for action, _, object_id, receptacle in about["plan"]:
            for name in filter(None, (object_id, receptacle)):
                found.setdefault(type_of(name), Counter())
            if action == "PickupObject":
                found[type_of(object_id)][type_of(receptacle) if receptacle else FLOOR] += 1
    return {name: dict(sorted(found[name].items())) for name in sorted(found)}


def main(path: Path) -> None:
    """Write the table anew, from annotated tasks."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            table = counts(json.loads(line) for line in file)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HouseholdError(f"{path} has no annotated tasks: 'scene' and 'plan' are wanted") from error
    FILE.write_text("".join(f"{name}\t{json.dumps(row)}\n" for name, row in table.items()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
