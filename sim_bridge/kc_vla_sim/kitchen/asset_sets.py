"""The sets of assets by name."""

from __future__ import annotations

from kc_vla_sim.choices import LIBERO_ASSETS, check_assets
from kc_vla_sim.kitchen.asset_set import AssetSet
from kc_vla_sim.kitchen.shapes import SHAPES


def find_assets(name: str) -> AssetSet:
    """Return the set of that name, ready to be used.

    Raises:
        BadAssetsError: there is none.
        AssetsError: its packages are not installed, or its bodies cannot be made or stored.
    """
    if check_assets(name) == LIBERO_ASSETS:
        from kc_vla_sim.kitchen.libero.assets import LIBERO, prepare

        prepare()
        return LIBERO
    return SHAPES
