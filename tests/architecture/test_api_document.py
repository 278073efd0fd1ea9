"""docs/api.md tells every route, field and error code there is, and no other."""

import json
import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import BaseModel

from engine.request import SongRequest
from engine.sketch.performance import SINGING
from engine.sketch.pipeline import COMPOSING
from engine.sketch.sampler import PHASE
from engine.speech.pipeline import SPEAKING
from engine.speech_request import SpeechRequest
from engine.transcription.pipeline import LISTENING
from engine.transcription_request import TranscriptionRequest
from engine.yue2 import stages
from server.errors import ANSWERS, job_outcome
from server.jobs.job import LOADING
from server.log_ring import LogRing
from server.openapi import build_openapi
from server.parts import assemble
from server.settings import load
from tests.api_check import shape_fault, sum_fault
from tests.architecture.documents import ROOT, code, section, table_rows

TEXT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
COMPATIBLE = (ROOT / "docs" / "compatible.md").read_text(encoding="utf-8")


def test_every_error_code_is_documented_with_its_status() -> None:
    documented = {(int(row[0]), code(row[1])[0]) for row in table_rows(section(TEXT, "## Errors"), 3)}
    assert documented == {(answer.status, answer.code) for answer in ANSWERS.values()}


def test_every_code_of_a_failed_job_is_documented() -> None:
    kinds: list[type[BaseException]] = [*ANSWERS, MemoryError, RuntimeError]
    raised = [kind.__new__(kind) for kind in kinds]
    documented = {code(row[0])[0] for row in table_rows(section(TEXT, "## Errors"), 2)}
    found_at_start = {"result_missing"}  # by the store, not by a job
    assert documented == {job_outcome(error)[1] for error in raised} - {""} | found_at_start


def test_every_field_is_documented_with_its_default() -> None:
    rows = table_rows(section(TEXT, "## Asking for songs"), 3)
    documented = {code(row[0])[0]: json.loads(code(row[1])[0]) for row in rows if row[1] != "see below"}
    defaults = SongRequest(style="any").model_dump(mode="json") | {"style": "", "words": None}
    plain = {name: value for name, value in defaults.items() if not name.endswith("_sampling")}
    assert documented == plain


@pytest.mark.parametrize(
    ("heading", "shape"), [("## Speech", SpeechRequest), ("## Transcription", TranscriptionRequest)]
)
def test_every_option_is_documented_with_its_default(heading: str, shape: type[BaseModel]) -> None:
    rows = table_rows(section(TEXT, heading), 3)
    documented = {code(row[0])[0]: json.loads(code(row[1])[0]) for row in rows}
    assert documented == {name: field.default for name, field in shape.model_fields.items()}


def test_the_defaults_of_sampling_are_documented() -> None:
    rows = table_rows(section(TEXT, "## Asking for songs"), 4)
    request = SongRequest(style="any")
    for column, sampling in ((2, request.abc_sampling), (3, request.semantic_sampling)):
        documented = {code(row[0])[0]: json.loads(code(row[column])[0]) for row in rows}
        assert documented == sampling.model_dump()


def test_every_phase_is_documented() -> None:
    documented = {code(row[0])[0] for row in table_rows(section(TEXT, "## A job"), 4)}
    of_the_band = {COMPOSING, SINGING, PHASE}
    of_yue2 = {stages.SCORE, stages.SEMANTIC, stages.ACOUSTIC, stages.DECODING, stages.ANALYSING}
    assert documented == of_the_band | of_yue2 | {stages.ENCODING, LOADING, SPEAKING, LISTENING}


def test_every_metric_is_documented(tmp_path: Path) -> None:
    documented = {name for row in table_rows(section(TEXT, "## Status"), 2) for name in code(row[0])}
    settings = load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")})
    families = text_string_to_metric_families(assemble(settings, LogRing()).metrics.exposition().decode())
    assert documented == {family.name.removesuffix("_created") for family in families}


def test_every_route_is_documented() -> None:
    """Those of other vendors' APIs on a page of their own."""
    documented = {code(row[0])[0] for row in table_rows(section(TEXT, "## Routes"), 2)}
    documented |= {code(row[0])[0] for row in table_rows(section(COMPATIBLE, "## Routes"), 3)}
    paths = build_openapi("0", keyed=False)["paths"]
    assert isinstance(paths, dict)
    described = {
        f"{method.upper()} {path}"
        for path, methods in paths.items()
        if isinstance(methods, dict)
        for method in methods
        if method in {"get", "post", "put", "delete"}
    }
    assert documented == described


def test_the_snapshot_shown_is_one_the_server_could_give() -> None:
    shown = re.search(r"```json\n(.*?)```", section(TEXT, "## Status"), re.DOTALL)
    assert shown is not None
    snapshot = json.loads(shown[1])
    assert shape_fault(snapshot) == sum_fault(snapshot) == ""
