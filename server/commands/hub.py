"""The model hub as far as `yue2-studio pull` needs it: what a repository holds, and a file's bytes from an offset on.

huggingface-hub brings addresses (`HF_ENDPOINT` for a mirror), tokens (`HF_TOKEN` and those of `hf auth login`), the
offline switch and the connection. Its own downloads write to a new file each time and remove it when they are
interrupted, which with 7 GB will not do: the bytes are read here.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from server.commands.hub_errors import ExtraMissing, HubRefused, HubUnreachable
from server.commands.model_files import Digest, Listing, RemoteFile

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.hf_api import RepoSibling

PATIENCE_SECONDS = 30.0  # for an answer's next byte
RANGE_REFUSED = 416
RETRIED = frozenset({408, 429, 500, 502, 503, 504})


class BrokenTransfer(Exception):
    """The connection ended too early or the hub asks for patience; trying again may help."""


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a file from `offset` on, which is 0 where the hub does not do ranges."""

    offset: int
    chunks: Iterator[bytes]


class Hub:
    """Owner of the library's settings for one run; nothing is sent but requests for what is to be fetched."""

    def __init__(self, endpoint: str | None = None) -> None:
        """Raises ExtraMissing where the library is not installed."""
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # read when the library is imported
        try:
            from huggingface_hub import HfApi, constants
        except ImportError:
            raise ExtraMissing from None
        self.address = (endpoint or constants.ENDPOINT).rstrip("/")
        self._api = HfApi(endpoint=self.address, library_name="yue2-studio")

    def listing(self, repo: str, revision: str) -> Listing:
        """Every file of a repository at the commit that the revision stands for. Raises PullError."""
        from httpx2 import TransportError
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

        try:
            found = self._api.model_info(
                repo, revision=revision, files_metadata=True, timeout=PATIENCE_SECONDS
            )
        except HFValidationError:
            raise HubRefused(
                f"{repo!r} cannot be a repository's name; write it as owner/name, such as m-a-p/YuE2-3B."
            ) from None
        except OfflineModeIsEnabled:
            raise HubUnreachable(
                "HF_HUB_OFFLINE forbids asking the hub; unset it to fetch the models."
            ) from None
        except TransportError as error:
            raise HubUnreachable(self._unreachable(error)) from error
        except HfHubHTTPError as error:
            raise HubRefused(self._refusal(error, repo, revision)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise HubUnreachable(
                f"{self.address} answers, but not as a model hub; check HF_ENDPOINT."
            ) from error
        files = tuple(file for one in found.siblings or () if (file := _remote(one)) is not None)
        return Listing(repo, revision, found.sha or revision, files)

    @contextmanager
    def opened(self, listing: Listing, file: RemoteFile, offset: int) -> Iterator[Body]:
        """The file's bytes from the offset on; BrokenTransfer where trying again may help, else PullError."""
        from httpx2 import TransportError
        from huggingface_hub import get_session, hf_hub_url

        address = hf_hub_url(listing.repo, file.path, revision=listing.commit, endpoint=self.address)
        headers = _headers() | ({"Range": f"bytes={offset}-"} if offset else {})
        try:
            with get_session().stream("GET", address, headers=headers, timeout=PATIENCE_SECONDS) as answer:
                if answer.status_code in RETRIED:
                    raise BrokenTransfer(f"The hub answers {answer.status_code}.")
                if answer.status_code == RANGE_REFUSED:
                    yield Body(0, iter(()))
                    return
                if answer.status_code not in (200, 206):
                    raise HubRefused(
                        f"The hub refuses {file.path} of {listing.repo} with status {answer.status_code}; "
                        "try again later, or check your access to it."
                    )
                start = offset if answer.status_code == 206 else 0
                yield Body(
                    start, answer.iter_raw()
                )  # as it comes: half a chunk would be lost with the connection
        except TransportError as error:
            raise BrokenTransfer(f"The connection to {self.address} broke ({_reason(error)}).") from error

    def _unreachable(self, error: Exception) -> str:
        return (
            f"Cannot reach {self.address} ({_reason(error)}); check the network and the proxy's settings, "
            "then run this again."
        )

    def _refusal(self, error: "HfHubHTTPError", repo: str, revision: str) -> str:
        from huggingface_hub.errors import GatedRepoError, RevisionNotFoundError

        status = error.response.status_code
        if isinstance(error, RevisionNotFoundError):
            return f"{repo} has no revision {revision!r}; leave --revision out for the newest."
        if isinstance(error, GatedRepoError) or status == 403:
            return (
                f"{repo} is there, but not for you: accept its terms at {self.address}/{repo} and set HF_TOKEN "
                "to a token of yours."
            )
        if status in (401, 404):
            return (
                f"There is no repository {repo} at {self.address} that may be read without (or with your) token; "
                "check the name, and HF_TOKEN if it is private."
            )
        return f"{self.address} answers {status} when asked for {repo}; try again later."


def _headers() -> dict[str, str]:
    from huggingface_hub import constants, get_token

    headers = {"User-Agent": "yue2-studio", "Accept-Encoding": "identity"}
    token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
    return headers | ({"Authorization": f"Bearer {token}"} if token else {})


def _reason(error: Exception) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__


def _remote(file: "RepoSibling") -> RemoteFile | None:
    """One file of the answer; none where its size or digest is not told."""
    if file.lfs is not None:
        return RemoteFile(file.rfilename, file.lfs.size, Digest("sha256", file.lfs.sha256))
    if file.size is None or file.blob_id is None:
        return None
    return RemoteFile(file.rfilename, file.size, Digest("git", file.blob_id))
