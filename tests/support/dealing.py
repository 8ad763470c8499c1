"""Deals the tests out to the processes of `pytest -n`: what is expensive to start is started in one of them alone."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

_TOGETHER = ("tests/end_to_end/", "tests/faults/"), ("sim_bridge/test/",)
"""Whole stacks, which take all the processors that there are; the simulator's, which takes seconds to load."""
_APART = "tests/end_to_end/test_annotation_page.py"


class ByFile(LoadScopeScheduling):
    """The tests of a file stay together, for what they share, and so do those of some folders.

    A process that has done its files takes the next, in the order in which they were collected.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        folders = next((together for together in _TOGETHER if file.startswith(together)), None)
        return file if folders is None or file == _APART else folders[0]
