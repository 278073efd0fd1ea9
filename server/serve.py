"""The product: settings in, a running server out."""

import logging
import os
import secrets
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version

from starlette.routing import BaseRoute

from engine.catalogue import Catalogue, open_catalogue
from engine.errors import CheckpointError, DeviceError, MissingExtra
from engine.request import DRAWN_SEED_LIMIT
from engine.sound_options import SoundOptions
from engine.yue2.options import Yue2Options
from server.agents.desk import AgentDesk
from server.agents.desk_parts import DeskParts
from server.agents.making import AgentWork
from server.agents.protocol import build_mcp_server, calling, listed_tools
from server.app import build_app
from server.calls.call import Surroundings
from server.calls.synchronous import SynchronousCalls
from server.codec_operations import CodecOperations
from server.compatible.speaking import Speaking
from server.compatible.transcription import Transcribing
from server.connection import DEFAULT_TIMEOUTS
from server.errors import SettingsError
from server.log_ring import LogRing
from server.openapi import build_openapi
from server.operations import Operations
from server.parts import Parts, assemble
from server.process import run_server, set_up_logging
from server.props import build_props
from server.routes.artifacts import ArtifactRoutes
from server.routes.elevenlabs import ElevenLabsRoutes
from server.routes.mcp import McpRoutes, visit_of
from server.routes.native import NativeRoutes
from server.routes.openai_models import OpenAiModelRoutes
from server.routes.openai_speech import OpenaiSpeechRoutes
from server.routes.openai_transcription import OpenaiTranscriptionRoutes
from server.routes.recordings import RecordingRoutes
from server.routes.speech import SpeechRoutes
from server.routes.system import SystemRoutes
from server.routes.transcribe import TranscribeRoutes
from server.routes.vae import VaeRoutes
from server.settings import Settings, unknown_variables
from server.speech_operations import SpeechOperations
from server.starting import bind, held_output
from server.submission import Submissions
from server.transcription_operations import TranscriptionOperations

_log = logging.getLogger(__name__)


def run(settings: Settings) -> int:
    """Serve until a signal and give the exit status. Raises SettingsError, StartError, DiskFull, OSError before serving."""
    log_ring = LogRing()
    set_up_logging(log_ring, settings.log_level, sys.stderr)
    for sentence in unknown_variables(os.environ):
        _log.warning("%s", sentence)
    catalogue = opened(settings)
    place = f"http://{settings.host}:{settings.port}"
    with held_output(settings, f"process {os.getpid()}, serving {place}"):
        bound = bind(settings.host, settings.port)
        parts = assemble(settings, log_ring, unload=catalogue.unload)
        app = build_app(parts, product_routes(parts, catalogue))
        return run_server(parts, app, [bound], DEFAULT_TIMEOUTS)


def opened(settings: Settings) -> Catalogue:
    """The models that the settings ask for. Raises SettingsError with what is wrong with them."""
    try:
        return open_catalogue(weights_of(settings), sound_of(settings))
    except (CheckpointError, DeviceError, MissingExtra) as error:
        raise SettingsError(str(error)) from error


def weights_of(settings: Settings) -> Yue2Options | None:
    """What the settings tell of YuE2's weights; None where there are none."""
    if settings.model is None or settings.vae is None:
        return None
    return Yue2Options(
        model_folder=settings.model.absolute(),
        vae_folder=settings.vae.absolute(),
        device=settings.device,
        precision=settings.precision,
        residency=settings.residency,
        digest_file=settings.data_directory / "digests.json",
        flow_state=settings.flow_state,
    )


def sound_of(settings: Settings) -> SoundOptions:
    """What the settings tell of the models that speak, sing and listen."""
    return SoundOptions(
        whisper_folder=settings.whisper.absolute() if settings.whisper else None,
        voices_folder=settings.voices_directory,
        device=settings.device,
        threads=settings.sound_threads,
    )


def synchronous_calls(parts: Parts) -> SynchronousCalls:
    """What routes take that answer with the result itself."""
    around = Surroundings(parts.book, parts.limits, parts.attendance)
    return SynchronousCalls(
        parts.gate, parts.watch, parts.recent, around, parts.settings.sync_deadline_seconds
    )


def product_routes(parts: Parts, catalogue: Catalogue) -> list[BaseRoute]:
    """Every route of the product."""
    work = _Work(
        Operations(catalogue, draw_seed),
        SpeechOperations(catalogue, draw_seed),
        TranscriptionOperations(catalogue),
    )
    release = version("yue2-studio")
    system = SystemRoutes(
        parts.board,
        build_props(catalogue, parts.settings, release),
        build_openapi(release, keyed=bool(parts.settings.api_keys)),
        parts.keys,
        parts.metrics,
        parts.log_ring,
        parts.limits,
    )
    return [
        *_native_routes(parts, catalogue, work),
        *_compatible_routes(parts, catalogue, work),
        *_agent_routes(parts, catalogue, work, release),
        *system.routes(),
    ]


@dataclass(frozen=True, slots=True)
class _Work:
    """What native and compatible routes make their jobs with."""

    songs: Operations
    speech: SpeechOperations
    transcription: TranscriptionOperations


def _native_routes(parts: Parts, catalogue: Catalogue, work: _Work) -> list[BaseRoute]:
    submissions = Submissions(parts.gate, parts.book, parts.limits, parts.attendance.use)
    own = (
        NativeRoutes(work.songs, submissions, parts.book, parts.watch, parts.limits, parts.attendance),
        SpeechRoutes(work.speech, submissions),
        TranscribeRoutes(work.transcription, submissions, parts.limits),
        VaeRoutes(CodecOperations(catalogue), submissions, parts.limits),
    )
    return [route for routes in own for route in routes.routes()]


def _compatible_routes(parts: Parts, catalogue: Catalogue, work: _Work) -> list[BaseRoute]:
    """Those that other services' clients call."""
    calls = synchronous_calls(parts)
    own = (
        OpenAiModelRoutes(catalogue, time.time()),
        OpenaiSpeechRoutes(Speaking(catalogue, work.speech, work.songs), calls),
        OpenaiTranscriptionRoutes(Transcribing(catalogue, work.transcription), calls, parts.limits),
        ElevenLabsRoutes(calls, work.songs, catalogue, parts.limits),
    )
    return [route for routes in own for route in routes.routes()]


def _agent_routes(parts: Parts, catalogue: Catalogue, work: _Work, release: str) -> list[BaseRoute]:
    """Those that agents take, and the links they give away."""
    making = AgentWork(work.songs, work.speech, work.transcription)
    desk = AgentDesk(
        making,
        catalogue,
        DeskParts(
            parts.agent_gate,
            parts.artifacts,
            parts.book,
            parts.links,
            parts.watch,
            parts.limits,
            parts.board,
            parts.attendance.use,
        ),
    )
    server = build_mcp_server(calling(desk, visit_of), release, listed_tools())
    submissions = Submissions(parts.agent_gate, parts.book, parts.limits, parts.attendance.use)
    own = (
        McpRoutes(server, parts.limits, parts.settings.public_url),
        RecordingRoutes(making, submissions, parts.limits),
        ArtifactRoutes(parts.artifacts, parts.links, parts.limits),
    )
    return [route for routes in own for route in routes.routes()]


def draw_seed() -> int:
    """A seed for whoever sent none."""
    return secrets.randbelow(DRAWN_SEED_LIMIT)
