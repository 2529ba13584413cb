"""Who has come in with the token: sessions that can be ended, and how often somebody may try a wrong one.

A session is a random key in a cookie; the project has only its hash, mixed with the token, so that a new token ends all
sessions. Who sends wrong tokens has to wait: after five within ten minutes from one address even the right one is
refused there (in IPv6 from one network of 64 bits, whose owner has all its addresses). Sessions that are open go on.
All of it is in the project's file, so that several processes agree.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from datetime import datetime, timedelta, timezone
from time import time

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from espalier.server.database import Database, now
from espalier.server.failures import Failure

__all__ = ["COOKIE", "Door", "session_key"]

COOKIE = "espalier_session"
_DAYS = 30  # that a session lasts without being used
_TRIES, _WITHIN = 5, 600.0  # wrong tokens from one address, and seconds


class Door:
    """Lets in who has the token or a session; token : None if everybody may come in."""

    def __init__(self, token: str | None, database: Database) -> None:
        """Take the token and the project, which keeps the sessions."""
        self.token, self._db = token, database

    def enter(self, given: str, address: str) -> str:
        """Begin a session for who brings the token, and return its key."""
        if not self._right(given, address):
            raise Failure(401, "this is not the token", "take the one that serve printed")
        key = secrets.token_urlsafe(32)
        with self._db.write() as write:
            oldest = datetime.now(timezone.utc) - timedelta(days=_DAYS)
            write.execute("DELETE FROM session WHERE seen < ?", (oldest.strftime("%Y-%m-%dT%H:%M:%SZ"),))
            write.execute("INSERT INTO session VALUES (?, ?, ?)", (self._hash(key), now(), now()))
        return key

    def leave(self, key: str, everywhere: bool) -> int:
        """End a session, or all; return how many."""
        with self._db.write() as write:
            if everywhere:
                return write.execute("DELETE FROM session").rowcount
            return write.execute("DELETE FROM session WHERE key = ?", (self._hash(key),)).rowcount

    def check(self, headers: Headers, address: str) -> None:
        """Raise if a request has neither the token nor a session."""
        if self.token is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            known = self._right(given.strip(), address)
        else:
            known = self._open(session_key(headers))
        if not known:
            hint = "open /login with a browser, or send 'Authorization: Bearer TOKEN'"
            raise Failure(401, "the token is missing or wrong", hint)

    def _open(self, key: str) -> bool:
        """Is there such a session? One that is used is seen, once a day."""
        row = None if not key else self._db.row("SELECT seen FROM session WHERE key = ?", self._hash(key))
        if row is None:
            return False
        unused = datetime.now(timezone.utc) - datetime.fromisoformat(row["seen"].replace("Z", "+00:00"))
        if unused > timedelta(days=_DAYS):
            return False
        if unused > timedelta(days=1):
            with self._db.write() as write:
                write.execute("UPDATE session SET seen = ? WHERE key = ?", (now(), self._hash(key)))
        return True

    def _right(self, given: str, address: str) -> bool:
        """Is this the token? Who was wrong too often is not heard for a while."""
        if self.token is None:
            return False
        address, since = _neighbours(address), time() - _WITHIN
        rows = self._db.rows("SELECT at FROM wrong_login WHERE address = ? AND at > ? ORDER BY at", address, since)
        if len(rows) >= _TRIES:
            wait = int(rows[0]["at"] - since) + 1
            raise Failure(429, "too many wrong tokens came from this address", f"wait {wait} seconds")
        # The time that this takes does not tell how much was right.
        right = hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())
        if rows or not right:
            with self._db.write() as write:
                write.execute("DELETE FROM wrong_login WHERE at <= ? OR (? AND address = ?)", (since, right, address))
                if not right:
                    write.execute("INSERT INTO wrong_login VALUES (?, ?)", (address, time()))
        return right

    def _hash(self, key: str) -> str:
        return hashlib.sha256(f"{self.token}\n{key}".encode("utf-8", "replace")).hexdigest()


def _neighbours(address: str) -> str:
    """Return the address, or the network that its owner may take any address of."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4 or found.ipv4_mapped is not None:
        return str(found if found.version == 4 else found.ipv4_mapped)
    return str(ipaddress.ip_network((found.packed[:8] + bytes(8), 64)))


def session_key(headers: Headers) -> str:
    """Return the key of the session that a request says it has; empty if it has none."""
    return cookie_parser("; ".join(headers.getlist("cookie"))).get(COOKIE, "")
