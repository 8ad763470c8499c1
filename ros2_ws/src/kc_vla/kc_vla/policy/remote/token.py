"""The token of a policy's server."""

from __future__ import annotations

import os

from kc_vla.policy.interface import PolicyError
from kc_vla.policy.options import TOKEN

_MOST = 1024
UNKNOWN = f"it wants a token, and this is not it: set {TOKEN} in the environment, or token:="
"""What to say where a server has refused the one that was sent, or that none was."""


def token_or_environment(token: str) -> str:
    """Return the token, or where it is empty that of the environment; empty without.

    Raises:
        PolicyError: it cannot be one.
    """
    return checked_token(token or os.environ.get(TOKEN, ""))


def checked_token(token: str) -> str:
    """Return the token, if it can be sent in a header: letters of ASCII without spaces; PolicyError where it cannot."""
    if len(token) > _MOST or not token.isascii() or any(not "!" <= letter <= "~" for letter in token):
        raise PolicyError(f"the token must be up to {_MOST} visible letters of ASCII, without spaces")
    return token
