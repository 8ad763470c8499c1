"""Entry point of the simulators' nodes: beside the package, which takes seconds to import. See kc_vla.ros.entry."""

from functools import partial

from kc_vla.ros.entry import run

maniskill_bridge = partial(run, "kc_vla_sim.nodes.maniskill_bridge")
piper_simulator = partial(run, "kc_vla_sim.nodes.piper_simulator")
household = partial(run, "kc_vla_sim.nodes.household")
home_page = partial(run, "kc_vla_sim.nodes.home_page")
home_session = partial(run, "kc_vla_sim.nodes.home_session")
