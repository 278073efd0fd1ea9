"""`POST /vae`: a model's audio codec as an operation of its own."""

import io
from contextlib import ExitStack

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.errors import InvalidRequest
from engine.vae_request import read_decode, read_encode
from server.admission import Prepare
from server.codec_operations import CodecOperations
from server.limits import MAX_BODY_BYTES, Limits
from server.submission import Submissions
from server.uploads import AUDIO_PART, LATENTS_PART, PartRule, is_form, read_file, read_form


class VaeRoutes:
    """Fulfils `POST /vae` by the operations of the codec."""

    def __init__(self, operations: CodecOperations, submissions: Submissions, limits: Limits) -> None:
        self._operations = operations
        self._submissions = submissions
        self._limits = limits

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route("/vae", self.vae, methods=["POST"])]

    async def vae(self, request: Request) -> Response:
        """Audio into latents, or latents into audio."""

        async def read(held: ExitStack) -> Prepare:
            options = [(name, value) for name, value in request.query_params.multi_items() if name != "op"]
            match request.query_params.getlist("op"):
                case ["encode"]:
                    encoding = read_encode(options)
                    self._operations.check(encoding)
                    audio = await self._body(request, AUDIO_PART, held)
                    return lambda: self._operations.encode(encoding, audio)
                case ["decode"]:
                    decoding = read_decode(options)
                    self._operations.check(decoding)
                    latents = await self._body(request, LATENTS_PART, held)
                    return lambda: self._operations.decode(decoding, latents)
            raise InvalidRequest("op", "Say what to do: op=encode for an audio file, op=decode for latents.")

        return await self._submissions.submit(request, MAX_BODY_BYTES, read, is_upload=True)

    async def _body(self, request: Request, rule: PartRule, held: ExitStack) -> io.BytesIO:
        held.enter_context(self._limits.uploads.slot())
        if is_form(request):
            return (await read_form(request, [rule]))[rule.name]
        return await read_file(request, rule)
