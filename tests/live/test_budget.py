"""What may be taken of a core, added up by hand."""

import pytest
from iostrata.live import budget
from iostrata.live.budget import Credit, dearer, price_of_look


def test_credit_grows_with_the_jobs_clock_and_is_saved_up_to_a_limit_only():
    credit = Credit(0.5)
    assert credit.grant(10.0) == pytest.approx(0)
    credit.spend(budget.SAVED + 1.0)
    assert not credit.allows()
    # 0.5 of a core for 2 s pays for it exactly, less what is paid back of what was lent at the start; and a clock that
    # goes back grants nothing.
    paid = budget.SAVED / budget.REPAID
    assert credit.grant(12.0) == pytest.approx(0)
    assert not credit.allows()
    assert credit.grant(12.0 + 5 * paid) == pytest.approx(0)
    assert credit.allows()
    assert credit.grant(11.0) == pytest.approx(0)
    assert credit.spent == pytest.approx(budget.SAVED + 1.0)
    # 1 s more is beyond what is saved: the rest is for others, as are 0.25 s that others left.
    assert credit.grant(13.0, 0.25) == pytest.approx(1.25 - 1.5 * paid - budget.SAVED, abs=paid / 100)
    credit.spend(budget.SAVED / 2)
    assert credit.grant(13.0) == pytest.approx(0)


def test_what_is_lent_at_the_start_is_paid_back_in_the_first_minute():
    credit, spent = Credit(), []
    for now in range(601):
        credit.grant(0.1 * now)
        while credit.allows():
            credit.spend(0.001)
        spent.append(credit.spent)
    assert spent[0] >= budget.SAVED
    assert spent[-1] <= 0.5 * budget.SHARE * 60.0 + 0.0011
    assert all(later - before >= 0.5 * 0.5 * budget.SHARE for before, later in zip(spent, spent[10:], strict=False))


def test_what_was_dearer_is_paid_again_once():
    credit = Credit(0.5)
    credit.grant(0.0)
    credit.spend(0.5)
    credit.settle(2.0)
    assert credit.spent == 0
    # 1.5 s are owed less what was saved.
    credit.settle(2.0)
    credit.grant(2.9 - 2 * budget.SAVED)
    assert not credit.allows()
    credit.grant(3.1 - 2 * budget.SAVED)
    assert credit.allows()


def test_what_is_far_dearer_is_paid_back_little_by_little_and_not_for_ever():
    """A hundred times what was counted: four times at once, the rest within a minute, or half of what is granted."""
    credits = {factor: Credit(0.01) for factor in (0.0, 20.0, 1000.0)}
    granted = {}
    for factor, credit in credits.items():
        credit.grant(0.0)
        credit.spend(0.01)
        credit.settle(factor)
        for now in range(1, 121):
            credit.grant(float(now))
            while credit.allows():
                credit.spend(0.0001)
            granted[factor, now] = credit.spent
    assert granted[0.0, 60] - granted[20.0, 60] == pytest.approx(0.2, abs=0.002)
    assert granted[0.0, 120] - granted[20.0, 120] == pytest.approx(0.2, abs=0.002)
    assert granted[1000.0, 60] == pytest.approx(0.5 * 0.6 + budget.SAVED - 0.05, abs=0.002)
    assert granted[1000.0, 120] - granted[1000.0, 60] == pytest.approx(0.6, abs=0.002)


def test_without_a_share_there_is_no_end():
    credit = Credit(None)
    credit.spend(1e9)
    assert credit.allows()
    assert credit.grant(5.0, 7.0) == 0


@pytest.mark.parametrize(
    ("measured", "passed", "counted", "expected"),
    [(3.0, 0.0, 1.0, 2.0), (1.0, 0.0, 1.0, 0.0), (0.5, 0.0, 1.0, 0.0), (2.5, 100.0, 1.0, 1.0), (9.0, 0.0, 0.0, 0.0)],
)
def test_what_is_owed_on_top_is_measured_beyond_reading_lines(measured, passed, counted, expected):
    """Half a percent of a core is for lines."""
    assert dearer(measured, passed, counted) == pytest.approx(expected)


def test_a_look_costs_by_phases_and_stretches_up_to_so_many():
    one, two = price_of_look(1), price_of_look(2)
    assert price_of_look(0) == pytest.approx(0.001)
    assert two - one == pytest.approx(0.00015 + 0.00003)
    assert price_of_look(25) - price_of_look(24) == pytest.approx(0.00003)
    assert price_of_look(1000) - price_of_look(999) == pytest.approx(0.00003)
    assert price_of_look(1001) == price_of_look(1000)


def test_all_together_is_less_than_two_percent():
    assert budget.SHARE + budget.LINES < 0.02
    assert budget.SILENT < budget.MOVED < budget.SOUGHT
