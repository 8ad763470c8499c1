"""ROS nodes of the simulator: thin adapters around `kc_vla_sim.simulator`."""
