"""The rows of speech."""

from bench.speech import BARE, FIRST, FIRST_OF_ALL, PRODUCT, by_processor, rows


def test_medians_are_held_against_the_bars() -> None:
    samples = {
        PRODUCT: [50.0, 61.0, 90.0],
        BARE: [70.0, 122.0, 130.0],
        by_processor(PRODUCT): [64.0],
        by_processor(BARE): [130.0],
        FIRST: [100.0, 140.0, 400.0],
        FIRST_OF_ALL: [900.0],
        "bare answer": [1.0, 1.0, 2.0],
    }
    told = {row.name: row for row in rows(samples)}
    assert (told[PRODUCT].value, told[PRODUCT].missed) == (61.0, False)
    assert told["of the bare network's speed"].value == 0.5
    assert (told[f"{FIRST}, p50"].value, told[f"{FIRST}, p50"].missed) == (140.0, False)
    assert told[f"{FIRST}, p95"].bar is None
    assert any(row.missed for row in rows({**samples, PRODUCT: [59.0, 59.0, 90.0]}))
    assert any(row.missed for row in rows({**samples, FIRST_OF_ALL: [3100.0]}))
