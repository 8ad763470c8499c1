"""How many threads a process takes for itself."""

from __future__ import annotations

import os


def one_blas_thread() -> None:
    """Let numpy multiply on one thread, unless the user's environment says otherwise; to be called before it is loaded.

    Its threads wait for one another by spinning. On a machine whose processors are busy, as a robot's are, a sentence
    took 3.5 times as long to embed on two threads as on one, and six times the processor; on an idle one 0.8 times.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
