"""Reasons why events of a location are lost, as sentences."""

from iostrata.otf2io.files.reasons import other_count, unopened


def test_without_definitions_ids_mean_nothing_and_without_events_that_is_not_said() -> None:
    definitions, events = unopened("definition", None), unopened("event", OSError(13, "Permission denied"))
    assert definitions.startswith("its definition file could not be opened, so its ids")
    assert events == "its event file cannot be read (Permission denied)"


def test_both_numbers_of_events_are_told() -> None:
    assert "holds 5 events, the definitions promise 7: it belongs elsewhere" in other_count(5, 7)
