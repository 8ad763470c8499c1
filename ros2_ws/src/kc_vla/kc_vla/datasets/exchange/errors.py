"""What can go wrong on the way from one form to another."""

from __future__ import annotations

from kc_vla.bags.errors import BagError


class ExchangeError(BagError):
    """Something cannot be imported or exported; the message names the file and, where it is one's fault, the frame."""


class RateError(ExchangeError):
    """A camera does not make a whole number of frames a second: a bag is good for all but a LeRobot data set."""
