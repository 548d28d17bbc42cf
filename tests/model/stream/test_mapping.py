"""Partitions on threads: their order, how many are worked on at once, and what is told of events."""

import threading
from concurrent.futures import CancelledError

import pytest
from iostrata.model.stream.mapping import ProgressReport, map_partitions, reduce_partitions


def test_one_thread_is_the_callers_and_begins_nothing_before_it_is_asked_for():
    begun = []

    def function(partition, _add):
        begun.append(partition)
        return threading.current_thread()

    for more in ({}, {"workers": 1}):
        begun.clear()
        found = map_partitions(function, "abc", 0, **more)
        assert next(found) is threading.main_thread()
        assert begun == ["a"]
        assert [*found] == [threading.main_thread()] * 2


@pytest.mark.parametrize("workers", [2, 3])
def test_results_come_in_order_and_one_more_than_there_are_threads_is_under_way(workers):
    begun, free = [], threading.Semaphore(0)

    def function(partition, _add):
        begun.append(partition)
        assert threading.current_thread() is not threading.main_thread()
        free.release()
        return partition

    found = map_partitions(function, range(20), 0, workers)
    assert next(found) == 0
    for _ in range(workers + 1):
        assert free.acquire(timeout=60)
    assert sorted(begun) == list(range(workers + 1))
    assert [*found] == list(range(1, 20))


def test_neighbours_are_merged():
    for workers in (1, 2):
        assert (
            reduce_partitions(lambda one, _add: one, lambda one, other: f"({one}{other})", "abc", workers) == "((ab)c)"
        )


def test_progress_is_of_what_is_done_and_never_more_than_all():
    told = []
    report = ProgressReport(10, lambda done, of_all: told.append((done, of_all)))
    for events in (3, 0, 6, 5):
        report.add(events)
    assert told == [(3, 10), (9, 10), (10, 10)]
    ProgressReport(10, None).add(5)


def test_where_one_fails_the_others_stop():
    report = ProgressReport(10, None)
    with pytest.raises(KeyError), report.cancelling():
        raise KeyError
    with pytest.raises(CancelledError):
        report.add(1)
