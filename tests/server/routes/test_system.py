"""Health, properties, metrics, description and the key's cookie."""

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.request import SongRequest
from engine.speech_request import SpeechRequest
from tests.server.product import Product, product

SNAPSHOT = {
    "queue": {
        "limit", "pending", "active", "queued", "available", "accepting", "retry_after_seconds", "rejected",
        "completed", "failed", "cancelled", "active_operation",
    },
    "results": {
        "location", "files", "bytes", "limit_bytes", "limit_files", "max_file_bytes", "ttl_seconds", "full",
    },
    "agents": {"limit", "pending", "files", "bytes", "limit_bytes", "limit_files", "ttl_seconds", "full"},
    "http": {
        "workers", "synchronous_limit", "synchronous_waiters", "download_limit", "log_stream_limit",
        "upload_decoder_limit", "max_upload_bytes",
    },
    "worker": {"state", "phase", "seconds_since_progress"},
}  # fmt: skip


@pytest.mark.parametrize("path", ["/health", "/status", "/system/queue"])
def test_the_snapshot_has_exactly_its_keys_and_is_never_cached(studio: Product, path: str) -> None:
    answer = studio.client.get(path)
    snapshot = answer.json()
    assert snapshot.pop("status") == "ok"
    assert {name: set(section) for name, section in snapshot.items()} == SNAPSHOT
    assert answer.headers["cache-control"] == "no-store"


def test_the_bounds_are_those_promised(studio: Product) -> None:
    snapshot = studio.client.get("/status").json()
    http, results = snapshot["http"], snapshot["results"]
    assert (http["workers"], http["synchronous_limit"], http["download_limit"]) == (20, 8, 4)
    assert (http["log_stream_limit"], http["upload_decoder_limit"]) == (2, 2)
    assert http["max_upload_bytes"] == 64 * 1024 * 1024
    assert (results["limit_bytes"], results["limit_files"]) == (10 * 1024**3, 256)
    assert (results["max_file_bytes"], results["ttl_seconds"]) == (1024**3, 86400)
    assert snapshot["queue"]["limit"] == 8


def test_a_snapshot_holds_no_handle_prompt_or_lyric(studio: Product) -> None:
    id = studio.submit("/synth", style="secretstyle", lyrics="secretwords", duration=2)
    text = studio.client.get("/status").text + studio.client.get("/metrics").text
    studio.finish(id)
    assert not any(secret in text for secret in (id, "secretstyle", "secretwords"))


def test_the_root_tells_every_client_where_to_go(studio: Product) -> None:
    told = studio.client.get("/").json()
    assert "/v1/audio/speech" in told["openai_clients"]
    assert "/v1/music" in told["elevenlabs_clients"]
    for path in (told["description"], told["models_and_defaults"], told["health"]):
        assert studio.client.get(path).status_code == 200


def test_props_tell_models_defaults_and_the_queue(studio: Product) -> None:
    props = studio.client.get("/props").json()
    models = {model["id"]: model for model in props["models"]}
    assert next(iter(models)) == props["default_model"] == "sketch"
    for operation, name in props["default_models"].items():
        assert operation in models[name]["operations"]
    assert set(props["default_models"]) <= set(props["defaults"])
    assert props["defaults"]["speech"] == {
        name: field.default for name, field in SpeechRequest.model_fields.items()
    }
    assert props["defaults"]["transcribe"]["task"] == "transcribe"
    assert props["limits"]["followers"] == 16
    assert (props["limits"]["speech_characters"], props["limits"]["transcription_seconds"]) == (
        100_000,
        86_400,
    )
    assert set(props["defaults"]["synth"]) == set(SongRequest.model_fields)
    assert props["defaults"]["sketch"]["words"] is None
    assert props["queue"]["limit"] == 8
    assert props["sample_rate_hz"] == 48000


def test_metrics_are_read_by_prometheus_own_parser(studio: Product) -> None:
    studio.made("/plan", style="folk")
    families = {
        family.name: family for family in text_string_to_metric_families(studio.client.get("/metrics").text)
    }
    counted = {
        sample.labels["operation"]
        for sample in families["yue2_job_seconds"].samples
        if sample.name.endswith("_count")
    }
    assert "plan" in counted
    assert families["yue2_queue_limit"].samples[0].value == 8
    assert families["yue2_jobs_completed"].type == "counter"
    assert "yue2_loop_lag_seconds" in families


def test_a_key_is_traded_once_for_a_cookie_and_the_cookie_given_back(tmp_path: Path) -> None:
    with product(tmp_path, {"YUE2_API_KEYS": "ann=annannannannannann"}) as closed:
        assert closed.client.get("/props").status_code == 401
        assert closed.client.post("/session", json={"key": "wrong"}).status_code == 401
        assert closed.client.post("/session", json={"token": "x"}).status_code == 400
        traded = closed.client.post("/session", json={"key": "annannannannannann"})
        cookie = traded.headers["set-cookie"]
        assert traded.status_code == 204
        assert "annannannannannann" not in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert closed.client.get("/props").status_code == 200
        closed.client.delete("/session")
        assert closed.client.get("/props").status_code == 401


@pytest.mark.parametrize(("scheme", "secure"), [("https", True), ("http", False)])
def test_a_cookie_of_a_page_over_tls_stays_there(tmp_path: Path, scheme: str, secure: bool) -> None:
    with product(tmp_path, {"YUE2_API_KEYS": "ann=annannannannannann"}) as closed:
        headers = {"X-Forwarded-Proto": scheme}
        traded = closed.client.post("/session", json={"key": "annannannannannann"}, headers=headers)
    assert ("; Secure" in traded.headers["set-cookie"]) is secure


def test_strangers_are_read_little(studio: Product) -> None:
    answer = studio.client.post("/session", json={"key": "x" * 5000})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def test_a_cross_site_image_of_the_log_is_refused(studio: Product) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    answer = studio.client.get("/logs", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden_origin")


def test_a_server_without_keys_needs_no_session(studio: Product) -> None:
    answer = studio.client.post("/session", json={"key": "anything"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (204, False)
