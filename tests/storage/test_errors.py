"""The errors speak in sentences and carry what a caller needs."""

import inspect

import pytest

from storage import errors

SAMPLES = [
    errors.StoreFull(4, 4, 10, 100),
    errors.ResultTooLarge(1000),
    errors.DiskFull(),
    errors.UnknownEntry("0" * 16),
    errors.EntryExpired("0" * 16),
    errors.NotStored("0" * 16, "There is no result to read; wait for it."),
    errors.OutputLocked("/output", "process 7 at 127.0.0.1:8000"),
]


def test_every_error_is_sampled_and_drawn_in_the_tree() -> None:
    classes = {value for value in vars(errors).values() if inspect.isclass(value)} - {errors.StorageError}
    assert {type(sample) for sample in SAMPLES} == classes
    assert all(cls.__name__ in str(errors.__doc__) for cls in classes)
    assert all(issubclass(cls, errors.StorageError) for cls in classes)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_a_message_is_a_sentence_that_says_what_to_do(error: errors.StorageError) -> None:
    text = str(error)
    assert text[0].isupper()
    assert text.endswith(".")
    assert ";" in text


def test_the_numbers_of_a_full_store_are_in_its_message() -> None:
    text = str(errors.StoreFull(3, 4, 90, 100))
    assert "3 of 4 files" in text
    assert "90 of 100 bytes" in text
    assert "1000 bytes" in str(errors.ResultTooLarge(1000))


def test_a_full_store_ends_with_its_own_advice() -> None:
    assert str(errors.StoreFull(1, 1, 1, 1)).endswith(
        "; delete some that you no longer need, or wait until older ones expire."
    )
    own = str(errors.StoreFull(1, 1, 1, 1, "wait."))
    assert own.endswith(" bytes; wait.")
    assert "delete" not in own


def test_errors_about_an_entry_keep_its_id_out_of_the_message() -> None:
    for error in (
        errors.UnknownEntry("abc"),
        errors.EntryExpired("abc"),
        errors.NotStored("abc", "Wait; it runs."),
    ):
        assert error.id == "abc"
        assert "abc" not in str(error)


def test_a_locked_folder_names_its_holder() -> None:
    error = errors.OutputLocked("/output", "process 7")
    assert error.holder == "process 7"
    assert "/output" in str(error)
    assert "process 7" in str(error)
