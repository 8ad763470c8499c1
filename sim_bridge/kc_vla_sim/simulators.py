"""The table of simulators behind the bridge: `simulator:=` of the launch file, `simulator` of `maniskill_bridge`.

Another package adds a simulator with an entry point of the group `kc_vla.simulators` that names a `SimulatorKind`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kc_vla.core.deprecation import deprecated
from kc_vla.core.options import NoOptions, option
from kc_vla.core.robot import Robot
from kc_vla.core.tables import OpenTable
from kc_vla_sim.choices import ASSETS, LOOKS, STANDARD, STANDARD_ASSETS, STANDARD_LOOKS, VARIANTS
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.protocol import Simulation
from kc_vla_sim.robot import ROBOT

T = TypeVar("T")
_NOTHING: Mapping[str, Any] = types.MappingProxyType({})


@dataclass(frozen=True)
class SimulatorContext:
    """What every simulator is made with.

    Attributes:
        robot: the robot to play, of which the views count.
        image_size: pixels, width and height of every camera.
    """

    robot: Robot = ROBOT
    image_size: int = 256

    @property
    def rig(self) -> Robot:
        """Return the robot by its former name, which is read for one more version."""
        deprecated("the attribute rig of a SimulatorContext is called robot")
        return self.robot


@dataclass(frozen=True)
class SimulatorKind(Generic[T]):
    """A row of the table.

    Attributes:
        meaning: what it simulates, half a line, for the documentation.
        options: frozen dataclass of the simulator's options, its fields made by `kc_vla.core.options.option`. The node
            fills those that have the name of one of its parameters; all can be given in its parameter `options`.
        make: makes the simulator, or raises a `SimulationError`. It imports what it needs, the row does not.
    """

    meaning: str
    options: type[T]
    make: Callable[[SimulatorContext, T], Simulation]


@dataclass(frozen=True)
class ManiskillOptions:
    """The options of ManiSkill."""

    renderer: str = option("what renders the images", "auto", choices=("auto", "gpu", "cpu"))
    variant: str = option("variant of every task", STANDARD, choices=tuple(VARIANTS))
    visual_randomization: str = option("visual randomization of the rooms", STANDARD_LOOKS, choices=tuple(LOOKS))
    assets: str = option("assets of the kitchen", STANDARD_ASSETS, choices=tuple(ASSETS))
    depth: bool = option("depth images beside the color images", False)
    script: bool = option("whether a task such as the kitchen follows its script; false: only the robot acts", True)


def _maniskill(context: SimulatorContext, options: ManiskillOptions) -> Simulation:
    from kc_vla_sim.renderer import choose_renderer

    choose_renderer(options.renderer)  # first: what is missing is reported without a wait
    from kc_vla_sim.simulator import VIEWS, Simulator  # takes seconds to import

    if context.robot.views != VIEWS:
        there, asked = ", ".join(VIEWS), ", ".join(context.robot.views)
        raise SimulationError(
            f"the simulator maniskill has the views {there}, the robot '{context.robot.name}' has {asked}: "
            "name a robot with those, or play with simulator:=toy"
        )
    return Simulator(
        context.image_size,
        options.renderer,
        variant=options.variant,
        looks=options.visual_randomization,
        depth=options.depth,
        assets=options.assets,
        tour=options.script,
    )


def _toy(context: SimulatorContext, options: NoOptions) -> Simulation:
    from kc_vla_sim.toy import ToySimulator

    return ToySimulator(context.image_size, context.robot.cameras)


MANISKILL = SimulatorKind("the memory tasks, in ManiSkill", ManiskillOptions, _maniskill)
TOY = SimulatorKind(
    "the task counting in one dimension, without physics, to test how the graph reacts to faults", NoOptions, _toy
)
SIMULATORS: OpenTable[SimulatorKind[Any]] = OpenTable(
    "kc_vla.simulators",
    "simulator",
    SimulatorKind,
    {"maniskill": f"{__name__}:MANISKILL", "toy": f"{__name__}:TOY"},
    refusal=SimulationError,
)


def open_simulator(
    name: str,
    context: SimulatorContext,
    given: Mapping[str, Any] = _NOTHING,
    shared: Mapping[str, Any] = _NOTHING,
) -> Simulation:
    """Return the simulator of that name.

    Args:
        name: of its row.
        context: what every simulator is made with.
        given: the values of its options by their names; they replace the shared ones.
        shared: values of which a simulator takes those that are options of its own.

    Raises:
        SimulationError: There is none, its package cannot be loaded, or it cannot be used here or with these options.
    """
    options = SIMULATORS.options_of(name, given, shared)
    try:
        return SIMULATORS.get(name).make(context, options)
    except ImportError as error:
        raise SimulationError(f"simulator '{name}' needs what is not installed here: {error}") from error
