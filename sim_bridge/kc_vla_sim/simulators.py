"""The simulators behind the bridge, by name: a new one is a file that does `protocol.Simulation`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kc_vla.core.rig import Rig
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.looks import STANDARD_LOOKS
from kc_vla_sim.protocol import Simulation
from kc_vla_sim.robot import RIG
from kc_vla_sim.variants import STANDARD


@dataclass(frozen=True)
class Settings:
    """What a simulator is made with; one that has no use for a setting leaves it.

    Attributes:
        image_size: pixels, width and height of every camera.
        renderer: "auto", "gpu" or "cpu".
        variant: of every task, a name in `kc_vla_sim.variants`.
        looks: of every task, a name in `kc_vla_sim.looks`.
        rig: the robot to play, of which the views count.
    """

    image_size: int = 256
    renderer: str = "auto"
    variant: str = STANDARD
    looks: str = STANDARD_LOOKS
    rig: Rig = RIG


def _maniskill(settings: Settings) -> Simulation:
    from kc_vla_sim.renderer import choose_renderer

    choose_renderer(settings.renderer)  # first: what is missing is told at once
    from kc_vla_sim.simulator import VIEWS, Simulator  # takes seconds to import

    if settings.rig.views != VIEWS:
        told, asked = ", ".join(VIEWS), ", ".join(settings.rig.views)
        raise SimulationError(
            f"the simulator maniskill has the views {told}, the rig '{settings.rig.name}' has {asked}: "
            "name a rig with those, or play with simulator:=toy"
        )
    return Simulator(settings.image_size, settings.renderer, variant=settings.variant, looks=settings.looks)


def _toy(settings: Settings) -> Simulation:
    from kc_vla_sim.toy import ToySimulator

    return ToySimulator(settings.image_size, settings.rig.cameras)


SIMULATORS: dict[str, Callable[[Settings], Simulation]] = {"maniskill": _maniskill, "toy": _toy}


def open_simulator(name: str, settings: Settings) -> Simulation:
    """Return the simulator called `name`, a key of `SIMULATORS`.

    Raises:
        SimulationError: it cannot be used on this machine, or not with these settings.
    """
    return SIMULATORS[name](settings)
