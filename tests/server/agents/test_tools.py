"""The tools' cards: what an agent is told before its first call."""

from server.agents.tools import TOOLS


def test_tools_are_listed_in_a_fixed_order_and_once() -> None:
    assert [tool.name for tool in TOOLS] == [
        "create_song",
        "plan_score",
        "preview_score",
        "speak",
        "transcribe",
        "job_status",
        "cancel_job",
        "list_models",
        "server_status",
        "writing_guide",
    ]
