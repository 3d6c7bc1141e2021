"""Where a service may be: on this machine or inside the house, and never without proof of who it is."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from gate.load.fixes import shown

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

PRIVATE: Final = tuple(
    ipaddress.ip_network(n)
    for n in ("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
"""What may be declared as internal: loopback, RFC 1918 and unique local addresses."""

_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificate files, relative to where the appliance runs."""

    ca_file: str
    certificate_file: str | None = None
    key_file: str | None = None
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service is and how it is known; `internal` are networks besides loopback."""

    url: str
    secret_file: str | None = None
    tls: Tls | None = None
    internal: tuple[str, ...] = ()


class Fault(NamedTuple):
    """The key of a value that may not be used, what is wrong with it, and what to do."""

    key: str
    problem: str
    fix: str


def service_fault(service: Service) -> Fault | None:
    """Why an address or identity may not be used; None if all is well.

    Fail closed: an IP address on loopback or in a declared private network, https outside
    loopback, and signed requests or a certificate of our own.
    """
    fault = place_fault(service.url, service.internal)
    return fault or _identity_fault(service, urlsplit(service.url).scheme)


def place_fault(url: str, internal: Iterable[str]) -> Fault | None:
    """Why an address is neither this machine nor, over https, inside the house; None if it is."""
    parts = _split(url)
    if parts is None:
        problem = f"address `{shown(url)}` is no plain http address"
        return Fault("url", problem, "write `http://127.0.0.1:PORT` or `https://ADDRESS:PORT`")
    address, networks = _address(parts), _networks(internal)
    if address is None:
        problem = f"`{shown(parts.hostname)}` is no IP address"
        return Fault("url", problem, "write the address; a name could be made to lead elsewhere")
    if isinstance(networks, Fault):
        return networks
    if not address.is_loopback and not any(address in n for n in networks):
        problem = f"address `{address}` is neither loopback nor in a declared network"
        return Fault("url", problem, "list its network under `internal:`")
    if parts.scheme == "http" and not address.is_loopback:
        return Fault("url", "plain http leaves this machine", "use https with `tls:`")
    return None


def _split(url: str) -> SplitResult | None:
    """The parts of an http or https address with at most a port and a plain path, or None."""
    if not _URL.fullmatch(url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.hostname else None


def _address(parts: SplitResult) -> Address | None:
    try:
        return ipaddress.ip_address(parts.hostname or "")
    except ValueError:
        return None


def _networks(declared: Iterable[str]) -> list[Network] | Fault:
    """The declared networks, every one of them wholly private, or what is wrong with one."""
    networks = []
    for text in declared:
        try:
            network = ipaddress.ip_network(text)
        except ValueError:
            problem = f"`{shown(text)}` is no network"
            return Fault("internal", problem, "write one such as `10.20.0.0/16`")
        if not any(p.version == network.version and _within(network, p) for p in PRIVATE):
            problem = f"network `{network}` is not an internal one"
            return Fault("internal", problem, "declare private addresses only")
        networks.append(network)
    return networks


def _within(network: Network, outer: Network) -> bool:
    return network.network_address in outer and network.broadcast_address in outer


def _identity_fault(service: Service, scheme: str) -> Fault | None:
    tls = service.tls
    if scheme == "https" and tls is None:
        return Fault("url", "https address without `tls`", "add `tls:` with a `ca_file`")
    if scheme == "http" and tls is not None:
        return Fault("tls", "`tls` with an http address", "use an https address")
    if tls is not None and (tls.certificate_file is None) != (tls.key_file is None):
        return Fault("tls", "certificate and key do not come together", "give both or neither")
    if service.secret_file is None and (tls is None or tls.certificate_file is None):
        fix = "add `secret_file:`, or `tls:` with a certificate of our own"
        return Fault("url", "neither side would prove who it is", fix)
    return None
