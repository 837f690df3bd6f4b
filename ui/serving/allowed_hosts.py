"""Refuse what pages of other sites ask for, before Streamlit sees it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config

from ui.host import event

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ORIGIN: Final = b"origin"
_POLICY_VIOLATION: Final = 1008
_OTHER_HOST: Final = PlainTextResponse(
    "This server does not answer to the name in this address. If the name is the server's own, "
    "start the server with the environment variable STREAMLIT_SERVER_ALLOWED_HOSTS set to it.",
    status_code=403,
)
_OTHER_ORIGIN: Final = PlainTextResponse(
    "This request comes from a page of another site, which this server does not answer.",
    status_code=403,
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The hosts that a server answers to, and the origins whose pages may use it."""

    names: Sequence[str]
    """A name, or `*.example.org` for all below it, or `*` for any."""
    addresses: bool = False
    """Whether any network address is allowed as a host, not only this machine's loopback."""
    origins: Collection[str] = ()
    """Origins besides that of the server's own pages, such as `https://example.org`, or `*`."""


class AllowedHosts:
    """Answer status 403 to requests for another host, and from pages of another origin.

    When another site makes its own name lead to this server (DNS rebinding), Host still has that
    name, so a server must know its names. No site can make an address lead elsewhere. Browsers send
    both headers where they matter, so other programs may leave them out.

    Starlette's TrustedHostMiddleware cannot allow any address, or a missing Host; Streamlit checks
    websockets alone.
    """

    def __init__(self, app: ASGIApp, allowed: Allowed) -> None:
        self._app = app
        self._names = [_normalized(name) for name in allowed.names]
        self._addresses = allowed.addresses
        self._origins = allowed.origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        refusal = None
        if host is not None and not self._is_own(host):
            event("host_refused", "warning")
            refusal = _OTHER_HOST
        elif origin is not None and not self._is_allowed(origin, host):
            event("origin_refused", "warning")
            refusal = _OTHER_ORIGIN
        if refusal is not None:
            if scope["type"] == "http":
                await refusal(scope, receive, send)
            else:
                # Also status 403. Uvicorn would log a response with a text as an error.
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        if scope["type"] == "websocket":
            # To check an origin itself, Streamlit asks a service on the internet for the address of
            # this machine, and all visitors wait.
            kept = [(name, value) for name, value in scope["headers"] if name != _ORIGIN]
            scope = {**scope, "headers": kept}
        await self._app(scope, receive, send)

    def _is_own(self, host: str) -> bool:
        found = _place(host)
        if found is None:
            return False
        try:
            address = ip_address(found.name)
        except ValueError:
            pass
        else:
            if address.is_loopback or self._addresses:
                return True
        return any(
            name in ("*", found.name) or (name.startswith("*.") and found.name.endswith(name[1:]))
            for name in self._names
        )

    def _is_allowed(self, origin: str, host: str | None) -> bool:
        if origin in self._origins or "*" in self._origins:
            return True
        scheme, _, rest = origin.partition("://")
        own, found = _place(host or ""), _place(rest)
        default = _DEFAULT_PORTS.get(scheme.lower())
        return (
            own is not None
            and found is not None
            and default is not None
            and own.name == found.name
            and (own.port or default) == (found.port or default)
        )


def configured_hosts() -> Allowed:
    """Return what Streamlit's settings allow, and switch its own check of hosts off.

    The names are localhost and those in `server.address`, `browser.serverAddress` and
    `server.allowedHosts`. Addresses are allowed if `server.address` lets other machines in.
    """
    address = config.get_option("server.address") or ""
    names = ["localhost", address, config.get_option("browser.serverAddress")]
    names += config.get_option("server.allowedHosts")
    # It would refuse the websockets of pages that are allowed here.
    config.set_option("server.allowedHosts", [])
    origins = config.get_option("server.corsAllowedOrigins")
    if not config.get_option("server.enableCORS"):
        origins = ["*"]
    return Allowed(names, not _is_loopback(address), [origin.strip() for origin in origins])


class _Place(NamedTuple):
    name: str
    port: int | None


def _place(host: str) -> _Place | None:
    """Return the name and the port of a Host header; None if it is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        port = parts.port
    except ValueError:
        return None
    # Anything else than a host and a port, such as a path or a user's name, has no place there.
    if parts.hostname is None or parts.netloc != host or "@" in host:
        return None
    return _Place(_normalized(parts.hostname), port)


def _normalized(name: str) -> str:
    return name.strip().lower().removesuffix(".")


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
