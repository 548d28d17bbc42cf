"""What a batch system knew of jobs: which are ranked, and what is told of each."""

import pytest
from iostrata import TraceError
from iostrata.runs.scores.accounting import JobAccount, Wanted, read_accounting
from iostrata.runs.scores.assessment import JobScore, groups

SACCT = """JobID|JobIDRaw|User|Partition|State|OverSubscribe
4711|4711|ada|big|COMPLETED|NO
4711.batch|4711.batch||||
4712|4712|bob|small|CANCELLED by 1000|OK
4713_1|4714|ada|small|FAILED|
"""


@pytest.fixture
def accounting(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT)
    return path


def test_jobs_are_found_by_their_number_also_that_of_the_folder_of_a_trace(accounting):
    known = read_accounting(accounting)
    first = JobAccount("COMPLETED", "big", "ada", True)
    assert known.of("4711") == known.of("/scratch/4711/traces.otf2") == known.of("/scratch/4711.darshan") == first
    assert known.of("4713_1") == known.of("4714") == JobAccount("FAILED", "small", "ada", None)
    assert known.of("4711.batch") == known.of("4711")
    assert known.of("4715") is None


@pytest.mark.parametrize(
    ("wanted", "jobs"),
    [
        (Wanted(), ["4711", "4712", "4714"]),
        (Wanted(states=("cancelled", "failed")), ["4712", "4714"]),
        (Wanted(partitions=("small",), users=("ada",)), ["4714"]),
        (Wanted(exclusive=True), ["4711"]),
    ],
)
def test_those_wanted_are_chosen(accounting, wanted, jobs):
    known = read_accounting(accounting)
    assert [one for one in ("4711", "4712", "4714") if wanted.has(known.of(one))] == jobs


def test_what_a_table_does_not_tell_chooses_no_job(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job,user\na.b,ada\n")
    known = read_accounting(path)
    assert known.of("a.b") == JobAccount(user="ada")
    for wanted, column in ((Wanted(states=("FAILED",)), "state"), (Wanted(exclusive=True), "Exclusive")):
        with pytest.raises(TraceError, match=f"no column {column}"):
            known.check(wanted)
    path.write_text("name,user\n")
    with pytest.raises(TraceError, match="no column JobID"):
        read_accounting(path)


def test_a_quotation_mark_of_sacct_belongs_to_a_name_and_hides_no_job(tmp_path):
    path = tmp_path / "jobs.txt"
    path.write_text('JobID|JobName|User\n1|"run|ada\n2|b|bob\n')
    known = read_accounting(path)
    assert [known.of(one) for one in "12"] == [JobAccount(user="ada"), JobAccount(user="bob")]


def test_jobs_that_score_in_the_same_metrics_are_alike():
    jobs = [
        JobScore(name, 1.0, 1.0, 1.0, 1.0, 1.0, 1, 1, 1, 1, 1.0, 600.0, metrics)
        for name, metrics in (("a", ("md_read",)), ("b", ("write_bytes",)), ("c", ("write_bytes",)), ("d", ()))
    ]
    assert [(one.metrics, one.jobs, one.first) for one in groups(jobs)] == [
        (("write_bytes",), 2, "b"),
        (("md_read",), 1, "a"),
    ]
