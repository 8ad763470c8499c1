"""kc_vla: a robot stack that remembers."""
