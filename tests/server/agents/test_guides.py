"""The guides: every example and every word of them is the engine's own."""

import pytest

from server.agents.guides import GUIDES, guide_text


def test_every_guide_has_a_text() -> None:
    for guide in GUIDES:
        assert guide_text(guide.topic).startswith("# ")


def test_a_topic_without_a_guide_is_no_file_to_be_read() -> None:
    with pytest.raises(KeyError, match="etc"):
        guide_text("../../etc")
