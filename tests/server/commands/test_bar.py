"""The progress line."""

import io

from rich.console import Console

from server.commands.bar import Bar


def test_a_terminal_sees_phase_and_percent() -> None:
    screen = io.StringIO()
    with Bar(Console(file=screen, force_terminal=True, width=80)) as bar:
        bar.report("rendering", 0.5, bars=4)
    assert "rendering" in screen.getvalue()
    assert "50%" in screen.getvalue()


def test_a_pipe_sees_only_why_nothing_moves() -> None:
    pipe = io.StringIO()
    with Bar(Console(file=pipe, force_terminal=False, width=80)) as bar:
        bar.report("rendering", 0.5)
        bar.check_cancelled()
        bar.waiting(5.4, "The queue is full [8 of 8].")
    assert pipe.getvalue().strip() == "The queue is full [8 of 8]. Trying again in 5 s."
