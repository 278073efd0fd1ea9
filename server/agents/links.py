"""Links to what agents' jobs make: a job's id, sealed, and the name of its file.

Whoever has a link can download that file and do nothing else: the id, by which a job can be cancelled and deleted, cannot
be read from the seal, nor can a seal be made, without the server's secret. A link needs no record, so it outlives a
restart.
"""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from urllib.parse import quote

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from storage.entry import Entry
from storage.errors import UnknownEntry

ARTIFACTS_PATH: Final = "/artifacts"
# 16 bytes of synthetic IV and the 8 of the id, in base64url: every character counts in full, so each token has one spelling.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32}", re.ASCII)


class ArtifactLinks:
    """Seals job ids with AES-SIV (RFC 5297) under a key made of the server's secret; holds nothing else.

    One id has one seal: the same job gives the same link each time it is asked for.
    """

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESSIV(hmac.digest(secret, b"artifact links", "sha512"))

    def token(self, job_id: str) -> str:
        """The seal of an id of 16 hexadecimal digits: 32 characters of base64url."""
        return urlsafe_b64encode(self._cipher.encrypt(bytes.fromhex(job_id), None)).decode()

    def job_id(self, token: str) -> str:
        """The id under a seal. Raises UnknownEntry for anything that is no seal of this server's."""
        if not _TOKEN.fullmatch(token):
            raise UnknownEntry(token)
        try:
            return self._cipher.decrypt(urlsafe_b64decode(token), None).hex()
        except InvalidTag:
            raise UnknownEntry(token) from None

    def path(self, entry: Entry) -> str:
        """Where a stored entry of one file is downloaded, from the server's root: /artifacts/SEAL/NAME."""
        return f"{ARTIFACTS_PATH}/{self.token(entry.id)}/{quote(artifact_name(entry), safe='')}"


def artifact_name(entry: Entry) -> str:
    """The name of the one file that a job of an agent's made."""
    return entry.parts[0].filename
