"""The least that could do the product's jobs: what its speed is held against. Each runs in a process of its own.

`python -m bench.bare app FILE`     uvicorn and starlette: GET /health answers {"ok":true}, GET /file the file, stock, and
                                    POST /v1/audio/speech the file too
`python -m bench.bare socket FILE`  a thread that copies the file to whoever connects, with pread and send, no HTTP
With `--busy` a thread of pure Python competes for the interpreter, under the product's switch interval.
"""

import argparse
import os
import socket
import sys
import threading
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Route

SWITCH_INTERVAL_SECONDS = 0.001  # the product's
SLICE_BYTES = 1 << 20


def serve_app(file: Path, listener: socket.socket) -> None:
    """Serve the bare application until a signal."""

    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"ok": True})

    async def stored(request: Request) -> FileResponse:
        await request.body()
        return FileResponse(file)

    spoken = Route("/v1/audio/speech", stored, methods=["POST"])
    app = Starlette(routes=[Route("/health", health), Route("/file", stored), spoken])
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[listener])


def serve_socket(file: Path, listener: socket.socket) -> None:
    """Copy the file to each connection in turn, or answer one that asks for /health, until the process ends."""
    with file.open("rb") as opened:
        while True:
            connection, _ = listener.accept()
            with connection:
                _copy(opened.fileno(), connection)


def _copy(fd: int, connection: socket.socket) -> None:
    wanted = connection.recv(4096)
    if b"/health" in wanted:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        return
    offset = 0
    while chunk := os.pread(fd, SLICE_BYTES, offset):
        try:
            connection.sendall(chunk)
        except ConnectionError:  # the reader has measured enough
            return
        offset += len(chunk)


def spin() -> None:
    """Keep the interpreter busy for ever, as a sampler in pure Python would."""
    while True:
        sum(range(20_000))


def main() -> None:
    """Serve what the command line names."""
    options = argparse.ArgumentParser()
    options.add_argument("kind", choices=["app", "socket"])
    options.add_argument("file", type=Path)
    options.add_argument("--busy", action="store_true")
    chosen = options.parse_args()
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    if chosen.busy:
        threading.Thread(target=spin, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    (serve_app if chosen.kind == "app" else serve_socket)(chosen.file, listener)


if __name__ == "__main__":
    main()
