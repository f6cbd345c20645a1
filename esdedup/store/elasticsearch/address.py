"""Addresses of stores on a server, and what opens the door: secrets come from the environment, never an address."""

from __future__ import annotations

import base64
import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from esdedup.errors import UsageError

SCHEMES = ("http://", "https://", "cloud:")
_FORM = "give --store http://HOST:PORT/PREFIX, https://HOST:PORT/PREFIX or cloud:/PREFIX"
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is (None: in the cloud, by ES_CLOUD_ID), and what the names of the store's indices begin with."""

    server: str | None
    prefix: str

    @classmethod
    def parse(cls, address: str) -> Self:
        """Read `http(s)://HOST:PORT/PREFIX` or `cloud:/PREFIX`; `UsageError` for anything else.

        An address is not repeated in the message: it may hold a password.
        """
        if address.startswith("cloud:"):
            return cls(None, _checked_prefix(address.removeprefix("cloud:")))
        scheme, host, port, path = split_address(address, "--store", _FORM)
        return cls(f"{scheme}://{host}:{port or (443 if scheme == 'https' else 9200)}", _checked_prefix(path))

    def __str__(self) -> str:
        return f"{self.server or 'cloud:'}/{self.prefix}"


def split_address(address: str, option: str, form: str) -> tuple[str, str, int | None, str]:
    """Scheme, host (in brackets if it is an IPv6 address), port and path of an address that was given as `option`.

    `UsageError`, with the `form` it should have, for what has no host, or more than these: a password is not repeated.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(f"{option}: the address makes no sense; {form}") from None
    if "@" in parts.netloc:
        raise UsageError(f"{option}: no user and password in an address; set ES_USERNAME and ES_PASSWORD instead")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise UsageError(f"{option}: the address makes no sense; {form}")
    return parts.scheme, f"[{host}]" if ":" in host else host, port, parts.path


def client_options(address: ServerAddress, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What the client is made with: `ES_API_KEY`, or `ES_USERNAME` and `ES_PASSWORD`, and whom to trust.

    Raises `UsageError` where variables contradict each other.
    """
    given = {name: environment.get(f"ES_{name}") or None for name in _VARIABLES}
    options: dict[str, Any] = {}
    if address.server is not None:
        options["hosts"] = [address.server]
    elif given["CLOUD_ID"]:
        options["cloud_id"] = given["CLOUD_ID"]
    else:
        raise UsageError("--store cloud:/PREFIX needs ES_CLOUD_ID")
    if given["API_KEY"] and given["PASSWORD"]:
        raise UsageError("ES_API_KEY and ES_PASSWORD are both set; unset one")
    if bool(given["USERNAME"]) != bool(given["PASSWORD"]):
        raise UsageError("ES_USERNAME and ES_PASSWORD go together: set both or none")
    if given["API_KEY"]:
        if not re.fullmatch("[!-~]+", given["API_KEY"]):
            raise UsageError("ES_API_KEY is no API key: it has letters and digits, and neither spaces nor line ends")
        options["api_key"] = given["API_KEY"]
    if given["PASSWORD"]:
        # encoded here, as the client takes ASCII only
        options["basic_auth"] = base64.b64encode(os.fsencode(f"{given['USERNAME']}:{given['PASSWORD']}")).decode()
    if str(address).startswith("http://"):
        return options
    if given["CA_CERTS"]:
        options["ca_certs"] = _checked_certificates(given["CA_CERTS"])
    if given["CA_FINGERPRINT"]:
        if not re.fullmatch("([0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}", given["CA_FINGERPRINT"]):
            raise UsageError("ES_CA_FINGERPRINT is no SHA-256 fingerprint: that has 64 hexadecimal digits")
        options["ssl_assert_fingerprint"] = given["CA_FINGERPRINT"]
    return options


_VARIABLES = ("API_KEY", "USERNAME", "PASSWORD", "CA_CERTS", "CA_FINGERPRINT", "CLOUD_ID")


def _checked_certificates(path: str) -> str:
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        why = "no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror
        raise UsageError(f"ES_CA_CERTS {path}: {why}; name the file of the authority's certificate") from error
    return path


def _checked_prefix(path: str) -> str:
    prefix = path.strip("/")
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            f"--store: the address must end with a prefix for the names of the indices: up to 100 of a-z 0-9 . _ -, "
            f"the first a letter or digit; {_FORM}"
        )
    return prefix
