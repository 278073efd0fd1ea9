"""The model hub as far as `yue2-studio pull` needs it: what a repository holds, and a file's bytes from an offset on.

huggingface-hub brings addresses (`HF_ENDPOINT` for a mirror), tokens (`HF_TOKEN` and those of `hf auth login`), the
offline switch and the connection. Its own downloads write to a new file each time and remove it when they are
interrupted, which with 7 GB will not do: the bytes are read here.
"""

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from server.commands.hub_address import HUB, hub_address, is_overheard, shown
from server.commands.hub_errors import ExtraMissing, HubRefused, HubUnreachable, WrongChoice
from server.commands.model_files import Digest, Listing, RemoteFile
from server.commands.source_answers import (
    PATIENCE_SECONDS,
    Body,
    Origin,
    body_of,
    headers_for,
    reason_of,
)

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.hf_api import RepoSibling

_DIGESTS = {"sha256": re.compile(r"[0-9a-f]{64}"), "git": re.compile(r"[0-9a-f]{40}")}
_COMMIT = re.compile(r"[\w./-]+")


class Hub:
    """Owner of the library's settings for one run; nothing is sent but requests for what is to be fetched."""

    def __init__(self, endpoint: str | None = None) -> None:
        """Raises ExtraMissing where the library is not installed, WrongChoice where the endpoint is no address."""
        address = hub_address(endpoint) if endpoint else ""  # before the library stumbles over it
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # read when the library is imported
        try:
            from huggingface_hub import HfApi, constants
        except ImportError:
            raise ExtraMissing from None
        self._address = address or constants.ENDPOINT or HUB
        self._shown = shown(self._address)
        self._api = HfApi(endpoint=self._address, library_name="yue2-studio")

    @property
    def caution(self) -> str:
        """What the user should know before anything is sent; empty where there is nothing."""
        if not (is_overheard(self._address) and _token()):
            return ""
        return (
            f"Your token goes to {self._shown} in clear, where others can read it; use an https:// address in "
            "HF_ENDPOINT, or set HF_HUB_DISABLE_IMPLICIT_TOKEN=1 to send none."
        )

    def listing(self, repo: str, revision: str) -> Listing:
        """Every file of a repository at the commit that the revision stands for. Raises PullError."""
        with self._told(repo, revision):
            found = self._api.model_info(
                repo, revision=revision, files_metadata=True, timeout=PATIENCE_SECONDS
            )
            files = tuple(file for one in found.siblings or () if (file := _remote(one)) is not None)
            return Listing(repo, revision, _commit(found.sha or revision), files)

    @contextmanager
    def _told(self, repo: str, revision: str) -> Iterator[None]:
        """Put what goes wrong when a repository is asked for into PullErrors."""
        from httpx2 import InvalidURL, RequestError, TransportError
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

        try:
            yield
        except HFValidationError:
            raise WrongChoice(
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
        except (RequestError, InvalidURL, KeyError, TypeError, ValueError) as error:
            raise HubUnreachable(self._no_hub()) from error

    def opened(self, listing: Listing, file: RemoteFile, offset: int) -> AbstractContextManager[Body]:
        """The file's bytes from the offset on; BrokenTransfer where trying again may help, else PullError."""
        from huggingface_hub import get_session, hf_hub_url

        address = hf_hub_url(listing.repo, file.path, revision=listing.commit, endpoint=self._address)
        origin = Origin(
            self._shown,
            self._no_hub(),
            lambda status: (
                f"The hub refuses {file.path} of {listing.repo} with status {status}; "
                "try again later, or check your access to it."
            ),
        )
        headers = headers_for(offset) | _authorization()
        ask = partial(get_session().stream, "GET", address, headers=headers, timeout=PATIENCE_SECONDS)
        return body_of(ask, offset, origin)

    def _no_hub(self) -> str:
        return f"{self._shown} answers, but not as a model hub; check HF_ENDPOINT."

    def _unreachable(self, error: Exception) -> str:
        return (
            f"Cannot reach {self._shown} ({reason_of(error)}); check the network and the proxy's settings, "
            "then run this again."
        )

    def _refusal(self, error: "HfHubHTTPError", repo: str, revision: str) -> str:
        from huggingface_hub.errors import GatedRepoError, RevisionNotFoundError

        status = error.response.status_code
        if isinstance(error, RevisionNotFoundError):
            return f"{repo} has no revision {revision!r}; leave --revision out for the newest."
        if isinstance(error, GatedRepoError) or status == 403:
            return (
                f"{repo} is there, but not for you: accept its terms at {self._shown}/{repo} and set HF_TOKEN "
                "to a token of yours."
            )
        if status in (401, 404):
            return (
                f"There is no repository {repo} at {self._shown} that may be read without (or with your) token; "
                "check the name, and HF_TOKEN if it is private."
            )
        return f"{self._shown} answers {status} when asked for {repo}; try again later."


def _authorization() -> dict[str, str]:
    token = _token()
    return {"Authorization": f"Bearer {token}"} if token else {}


def _token() -> str | None:
    """What is sent to the hub as the user's own, where there is something and it may be sent."""
    from huggingface_hub import constants, get_token

    return None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()


def _commit(name: str) -> str:
    """What goes into addresses and on the terminal. Raises ValueError, TypeError where it cannot be a commit."""
    if not _COMMIT.fullmatch(name):
        raise ValueError(name)
    return name


def _remote(file: "RepoSibling") -> RemoteFile | None:
    """One file of the answer; none where its size or digest is not told.

    Raises ValueError, TypeError where they cannot be ones: they come from outside, and digests go into file names.
    """
    if file.lfs is not None:
        size, digest = file.lfs.size, Digest("sha256", file.lfs.sha256)
    elif file.size is not None and file.blob_id is not None:
        size, digest = file.size, Digest("git", file.blob_id)
    else:
        return None
    if not _DIGESTS[digest.kind].fullmatch(digest.hex) or type(size) is not int or size < 0:
        raise ValueError(digest)
    return RemoteFile(str(file.rfilename), size, digest)
