"""The address of a server without what is secret in it, and texts in which none of its secrets is left.

An address may hold a user, a password and tokens: "https://user:password@host/v1?token=...". Nobody is shown them, also
where a server says them back, as they are, encoded for a URL, or as the header that they become.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, quote_plus, unquote, unquote_plus, urlsplit, urlunsplit

BLANK = "..."
_SHORT = 4
"""Letters below which a secret is blanked as a word of its own alone: a user "a" is in every text."""


class AddressError(ValueError):
    """An address of a server cannot be used; the text says why in one line, without showing it."""


class ServerAddress:
    """The parts of a server's address.

    Attributes:
        url: address of the API without user, password and parameters; empty for an empty address.
        login: user and password; None where the address has none.
        parameters: parameters of the query, each of which may be a token.
    """

    def __init__(self, address: str, *secrets: str) -> None:
        """Take an address apart.

        Args:
            address: "http://localhost:8000/v1", or empty.
            secrets: what else is never shown, such as a key.

        Raises:
            AddressError: it is no address of a server.
        """
        try:
            parts = urlsplit(address.strip())
            _ = parts.port  # is read to see that it is one
        except ValueError:
            raise AddressError("its address is no URL: write it as http://localhost:8000/v1") from None
        if address.strip() and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise AddressError("its address has no http:// or no host: write it as http://localhost:8000/v1")
        user, at, host = parts.netloc.rpartition("@")
        name, colon, password = user.partition(":")
        self.url = urlunsplit((parts.scheme, host, parts.path, "", ""))
        self.login = (unquote(name), unquote(password)) if at else None
        self.parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
        header = base64.b64encode(":".join(self.login).encode()).decode() if self.login else ""
        raw_values = (each.partition("=")[2] or each for each in parts.query.split("&"))
        found = (user, password, header, *self.parameters.values(), *raw_values, parts.fragment, *secrets)
        self._secret = _pattern(form for each in (*found, name) for form in _forms(each))
        self._not_user = _pattern(form for each in found if colon or each != user for form in _forms(each))

    def blanked(self, text: str, user: bool = True) -> str:
        """Return a text without the secrets of the address.

        Args:
            text: a text of a server or of this program.
            user: whether to blank the name of the user, too. Do not do so in a plan, which may contain a word such as
                "robot" that is also the user's name.
        """
        secret = self._secret if user else self._not_user
        return secret.sub(BLANK, text) if secret else text


def _forms(secret: str) -> set[str]:
    """Return a secret in the ways in which it can be written in a URL, in JSON, in a page or in plain text."""
    plain = {secret, unquote(secret), unquote_plus(secret)}
    encoded = {form for each in plain for form in (quote(each, safe=""), quote(each), quote_plus(each))}
    quoted = {form for each in plain for form in (json.dumps(each)[1:-1], repr(each)[1:-1], html.escape(each))}
    return (plain | encoded | quoted) - {""}


def _pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds any of them, the longest first, percent signs in either case."""
    found = sorted(set(secrets), key=len, reverse=True)
    parts = [_written(each) if len(each) >= _SHORT else rf"(?<![^\W_]){_written(each)}(?![^\W_])" for each in found]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _written(secret: str) -> str:
    """Return a pattern for a secret of which any letters may be percent-encoded."""
    encoded = ("".join(f"%{byte:02x}" for byte in letter.encode()) for letter in secret)
    return "".join(f"(?:{re.escape(one)}|{other})" for one, other in zip(secret, encoded, strict=True))
