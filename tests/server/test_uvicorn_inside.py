import pytest
import uvicorn

from server.uvicorn_inside import check_uvicorn


def test_only_the_uvicorn_it_was_made_for_will_do() -> None:
    check_uvicorn(uvicorn.__version__)
    with pytest.raises(RuntimeError, match=r"made for uvicorn 0\.54\.x, but 0\.99\.0 is installed"):
        check_uvicorn("0.99.0")


def test_what_is_missing_in_uvicorn_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.uvicorn_inside.OVERRIDDEN", ("on_body", "on_something_else"))
    with pytest.raises(RuntimeError, match="on_something_else"):
        check_uvicorn()
