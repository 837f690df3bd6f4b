"""Group visitors by network address, so discarding the cookie gains no further share.

An address is known here by a hash with a key of this process alone, and is kept nowhere else.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address
from threading import Lock
from typing import Final

from ui.settings import settings

_KEY: Final = secrets.token_bytes(32)
_MOST_REMEMBERED: Final = 10_000
_BYTES_OF_NETWORK: Final = 8


def address_code(
    connection: str | None, forwarded_for: Sequence[str], n_proxies: int | None = None
) -> str:
    """Return a code for the network address of a visitor; empty for one that has no limits.

    `connection` is the address that connected, `forwarded_for` the values of the X-Forwarded-For
    headers, to which each of `n_proxies` added one address. Loopback and private addresses have no
    limits: those are the server's own network, or a proxy's that the settings do not mention.

    >>> address_code("10.0.0.7", []), address_code("127.0.0.1", [])
    ('', '')
    >>> by_proxy = address_code("10.0.0.7", ["192.0.2.1, 8.8.8.8"], 1)
    >>> by_proxy == address_code("8.8.8.8", [], 0) != address_code("8.8.4.4", [], 0)
    True
    """
    n_proxies = settings().proxies if n_proxies is None else n_proxies
    found = connection or ""
    if n_proxies:
        added = ",".join(forwarded_for).split(",")[-n_proxies:]
        found = added[0].strip() if len(added) == n_proxies else ""
    try:
        address = ip_address(found)
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if not address.is_global:
        return ""
    # Whoever has the network can choose the rest of an IPv6 address freely.
    network = address.packed[:_BYTES_OF_NETWORK]
    return hashlib.blake2b(network, key=_KEY, digest_size=8).hexdigest()


class Addresses:
    """The last address of each visitor; the codes of the latest visitors are remembered."""

    def __init__(self, most_remembered: int = _MOST_REMEMBERED) -> None:
        self._most_remembered = most_remembered
        self._lock = Lock()
        self._of: OrderedDict[str, str] = OrderedDict()

    def note(self, visitor: str, code: str) -> None:
        """Remember the code of a visitor's address."""
        with self._lock:
            self._of[visitor] = code
            self._of.move_to_end(visitor)
            if len(self._of) > self._most_remembered:
                self._of.popitem(last=False)

    def of(self, visitor: str) -> str:
        """Return the code of a visitor's address; empty if unknown, or without limits."""
        with self._lock:
            return self._of.get(visitor, "")


addresses: Final = Addresses()
"""Those of this server's visitors."""


def share_of_address(share_of_visitor: int) -> float:
    """Return what the visitors of one address may have together; `settings` sets how many shares.

    >>> share_of_address(2)
    6
    """
    return settings().address_visitors * share_of_visitor or float("inf")
