from engine.yue2.vocabulary import (
    CODEC_FIRST,
    CODES,
    END_OF_DOCUMENT,
    MUSIC_END,
    MUSIC_START,
    SCORE_END,
    SCORE_ROWS,
    SCORE_START,
    SEMANTIC_ROWS,
    TEXT_IDS,
    VOCABULARY,
    TokenRows,
)
from tests.engine.yue2.conftest import Golden


def test_the_ids_are_those_of_the_protocol(golden: Golden) -> None:
    assert golden.cases("prompt_cases")["ids"] == {
        "EOD": END_OF_DOCUMENT,
        "ABC_START": SCORE_START,
        "ABC_END": SCORE_END,
        "MUSIC_START": MUSIC_START,
        "MUSIC_END": MUSIC_END,
        "CODEC_OFFSET": CODEC_FIRST,
        "CODEC_SIZE": CODES,
        "LATENT_START": CODEC_FIRST + CODES,
        "LATENT_END": CODEC_FIRST + CODES + 1,
        "LATENT_PAD": CODEC_FIRST + CODES + 2,
        "VOCAB_SIZE": VOCABULARY,
        "CONTEXT": 24_576,
    }


def test_the_score_stage_may_draw_text_and_the_scores_end() -> None:
    rows = SCORE_ROWS
    drawable = set(range(rows.first, rows.first + rows.count)) - set(rows.barred)
    assert drawable == {*range(TEXT_IDS), SCORE_END}
    assert rows.end_id == SCORE_END


def test_the_semantic_stage_may_draw_codes_and_musics_end() -> None:
    rows = SEMANTIC_ROWS
    drawable = set(range(rows.first, rows.first + rows.count)) - set(rows.barred)
    assert drawable == {*range(CODEC_FIRST, CODEC_FIRST + CODES), MUSIC_END}
    assert rows.end_id == MUSIC_END


def test_barred_ids_have_places_where_there_are_any() -> None:
    assert list(range(10))[TokenRows(20, 10, 29, range(23, 25)).barred_places] == [3, 4]
    for first in (0, 3, 20):
        assert TokenRows(first, 10, 29, range(0)).barred_places == slice(0)
