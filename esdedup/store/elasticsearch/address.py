"""Addresses and credentials of stores on a server. Secrets come from the environment, never from an address."""

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
    """The address of a server (None: Elastic Cloud, by ES_CLOUD_ID) and the prefix of the store's indices."""

    server: str | None
    prefix: str

    @classmethod
    def parse(cls, address: str) -> Self:
        """Read `http(s)://HOST:PORT/PREFIX` or `cloud:/PREFIX`. Raise `UsageError` for anything else.

        The message does not repeat the address, which may contain a password.
        """
        if address.startswith("cloud:"):
            return cls(None, _checked_prefix(address.removeprefix("cloud:")))
        scheme, host, port, path = split_address(address, "--store", _FORM)
        return cls(f"{scheme}://{host}:{port or (443 if scheme == 'https' else 9200)}", _checked_prefix(path))

    def __str__(self) -> str:
        return f"{self.server or 'cloud:'}/{self.prefix}"


def split_address(address: str, option: str, form: str) -> tuple[str, str, int | None, str]:
    """Return scheme, host (in brackets for an IPv6 address), port and path of the address given as `option`.

    Raise `UsageError` with the expected `form` if the host is missing or the address has other parts. The message does
    not repeat the address, which may contain a password.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(f"{option}: the address is not valid; {form}") from None
    if "@" in parts.netloc:
        raise UsageError(
            f"{option}: an address must not contain a user and password; set ES_USERNAME and ES_PASSWORD instead"
        )
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise UsageError(f"{option}: the address is not valid; {form}")
    return parts.scheme, f"[{host}]" if ":" in host else host, port, parts.path


def client_options(address: ServerAddress, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return the options of the client: `ES_API_KEY`, or `ES_USERNAME` and `ES_PASSWORD`, and the trusted certificates.

    Raise `UsageError` if variables contradict each other.
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
        raise UsageError("ES_USERNAME and ES_PASSWORD must both be set; set both or neither")
    if given["API_KEY"]:
        if not re.fullmatch("[!-~]+", given["API_KEY"]):
            raise UsageError("ES_API_KEY is not valid: it must not contain spaces or line breaks")
        options["api_key"] = given["API_KEY"]
    if given["PASSWORD"]:
        # encoded here, because the client accepts only ASCII
        options["basic_auth"] = base64.b64encode(os.fsencode(f"{given['USERNAME']}:{given['PASSWORD']}")).decode()
    if str(address).startswith("http://"):
        return options
    if given["CA_CERTS"]:
        options["ca_certs"] = _checked_certificates(given["CA_CERTS"])
    if given["CA_FINGERPRINT"]:
        if not re.fullmatch("([0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}", given["CA_FINGERPRINT"]):
            raise UsageError("ES_CA_FINGERPRINT is not a SHA-256 fingerprint, which has 64 hexadecimal digits")
        options["ssl_assert_fingerprint"] = given["CA_FINGERPRINT"]
    return options


_VARIABLES = ("API_KEY", "USERNAME", "PASSWORD", "CA_CERTS", "CA_FINGERPRINT", "CLOUD_ID")


def _checked_certificates(path: str) -> str:
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        why = "the file contains no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise UsageError(f"ES_CA_CERTS {path}: {why}; set it to the CA certificate file") from error
    return path


def _checked_prefix(path: str) -> str:
    prefix = path.strip("/")
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            f"--store: the address must end with a prefix for the index names: up to 100 of a-z 0-9 . _ -, "
            f"starting with a letter or digit; {_FORM}"
        )
    return prefix
