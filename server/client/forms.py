"""A body of `multipart/form-data` (RFC 7578) that is the same bytes every time it is sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

# As browsers write names (html.spec.whatwg.org).
UNSAFE = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


@dataclass(frozen=True, slots=True)
class Form:
    """The body and the header that tells where its parts end."""

    content: bytes
    content_type: str


def form(request: Mapping[str, JsonValue], field: str, filename: str, file: bytes, boundary: str) -> Form:
    """A JSON part `request` and a file; the boundary must not occur in it.

    Names are bytes: one that is not UTF-8 is sent as it is on the disk.
    """
    delimiter = f"--{boundary}\r\n"
    told = (
        f'{delimiter}Content-Disposition: form-data; name="request"\r\nContent-Type: application/json\r\n\r\n'
        f"{json.dumps(request)}\r\n{delimiter}"
        f'Content-Disposition: form-data; name="{field}"; filename="{filename.translate(UNSAFE)}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return Form(
        told.encode(errors="surrogateescape") + file + f"\r\n--{boundary}--\r\n".encode(),
        f"multipart/form-data; boundary={boundary}",
    )
