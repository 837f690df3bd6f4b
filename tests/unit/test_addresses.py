"""The code of a visitor's network address, with and without proxies."""

from __future__ import annotations

import pytest

from ui.work.addresses import Addresses, address_code

PUBLIC = "8.8.8.8"


def test_an_address_that_a_visitor_claims_does_not_count() -> None:
    code = address_code(PUBLIC, [], 0)
    assert code
    assert address_code(PUBLIC, ["8.8.4.4"], 0) == code
    # The address that the proxy adds comes last, sometimes in a separate header.
    assert address_code("10.0.0.7", [f"8.8.4.4, {PUBLIC}"], 1) == code
    assert address_code("10.0.0.7", ["8.8.4.4", PUBLIC], 1) == code
    assert address_code("10.0.0.7", [f"8.8.4.4, {PUBLIC}, 10.0.0.9"], 2) == code


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.1.2.3", "192.168.0.9", "fe80::1%eth0", "::ffff:10.0.0.1", "x", None],
)
def test_loopback_and_private_addresses_have_no_code(address: str | None) -> None:
    assert not address_code(address, [], 0)
    assert not address_code("10.0.0.7", [address or ""], 1)


def test_a_proxy_that_adds_no_address_limits_nobody() -> None:
    assert not address_code("10.0.0.7", [], 1)
    assert not address_code("10.0.0.7", [PUBLIC], 2)


def test_addresses_of_an_ipv6_network_are_one() -> None:
    assert address_code("2001:4860:4860::8888", [], 0) == address_code("2001:4860:4860::1", [], 0)
    assert address_code("2001:4860:4860::8888", [], 0) != address_code("2001:4860:4861::1", [], 0)
    assert address_code(f"::ffff:{PUBLIC}", [], 0) == address_code(PUBLIC, [], 0)


def test_only_the_latest_visitors_are_remembered() -> None:
    known = Addresses(most_remembered=2)
    for visitor in "abab":
        known.note(visitor, f"of {visitor}")
    known.note("c", "of c")
    assert [known.of(visitor) for visitor in "abc"] == ["", "of b", "of c"]
