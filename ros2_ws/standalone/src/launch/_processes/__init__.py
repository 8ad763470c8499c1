"""Processes of a launch: starting, reading, signalling, and leaving none behind.

Every process runs in a session of its own, so that a Ctrl-C in the terminal reaches the launcher alone,
which then shuts down in order, and so that signals go to a process with all its children.

Every process also carries a tag in its environment (`tags.py`). Process groups do not hold a grandchild that
made a session of its own, parent links do not hold one whose parent has died, and a PR_SET_PDEATHSIG holds
direct children only; the environment is inherited through all of that. Leftovers are found by their tag.

A keeper (`keeper.py`), a tiny process in a session of its own, waits on a pipe from the launcher. When the
launcher dies without saying goodbye, SIGKILL included, it shuts down everything that carries the tag.
"""
