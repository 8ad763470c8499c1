"""What can go wrong with a data set."""

from __future__ import annotations

from kc_vla.bags.errors import BagError


class DataSetError(BagError):
    """A data set cannot be read or written; the message names the data set and, where it is one's fault, the episode
    and its frame."""
