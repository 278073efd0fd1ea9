"""JSON that came from a server as a file."""

import io

from pydantic import JsonValue, TypeAdapter, ValidationError

from server.client import BadAnswer, Client, Part


def downloaded_json(client: Client, id: str, part: Part) -> JsonValue:
    """One part of a result that is JSON. Raises ClientError, BadAnswer among them where it is none."""
    kept = io.BytesIO()
    client.download(id, part, kept)
    try:
        return TypeAdapter(JsonValue).validate_json(kept.getvalue())
    except ValidationError as error:
        raise BadAnswer(
            "The server sent a part that is not JSON; something between here and there may have changed it. "
            "Ask again."
        ) from error
