"""The checks of the benchmark: do the experts succeed, does the present frame give nothing away, does chance repeat?

`command` is what `kc-vla sim check` runs; `episode` plays one episode and serves tests as well.
"""

from kc_vla_sim.check.episode import CheckedEpisode, run_episode

__all__ = ["CheckedEpisode", "run_episode"]
