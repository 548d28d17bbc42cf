"""Results as plain dictionaries and as text."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from iostrata import Period, PeriodResult, Phase, Regime
from iostrata.analysis.results.evidence import HybridEvidence
from iostrata.analysis.results.parts import PeriodMetrics, SamplingInfo
from iostrata.analysis.results.plots import verdict_text
from iostrata.analysis.results.result import CERTAIN, KNOWN, is_certain

KEYS = [
    "periodic",
    "grade",
    "period_s",
    "period_interval_s",
    "frequency_hz",
    "confidence",
    "recurrence_s",
    "jitter",
    "periods",
    "method",
    "phases",
    "regimes",
    "metrics",
    "sampling",
    "evidence",
    "reason",
]


def result(**changes: object) -> PeriodResult:
    """A result with NumPy's numbers in every place."""
    values: dict[str, object] = {
        "method": "<b>some</b>",
        "recurrence": 0.5,
        "jitter": math.nan,
        "periods": (
            Period(np.float64(0.5), (np.float32(0.25), np.float64(0.75)), np.float64(0.9), np.int64(7)),
            Period(3.0, (2.0, 4.0), 0.2, 1.0),
        ),
        "phases": (Phase(np.float64(0.0), 0.1, 3.5),),
        "regimes": (Regime(0.0, np.float64(10.0), 0.5),),
        "metrics": PeriodMetrics(r_io=np.float64(0.1), b_io=math.inf),
        "sampling": SamplingInfo(np.float64(10.0), 100, True, None),
        "reason": "1 < 2 & so on.",
        "evidence": HybridEvidence(wavelet="db1", level=np.int64(3), valid_share=np.float32(0.5)),
    }
    return PeriodResult(**(values | changes))  # type: ignore[arg-type]


def test_keys_are_those_of_the_document() -> None:
    document = result().to_dict()
    assert list(document) == KEYS
    assert list(document["periods"][0]) == ["period_s", "period_interval_s", "confidence", "bytes"]
    assert list(document["phases"][0]) == ["start_s", "end_s", "bytes"]
    regime = ["start_s", "end_s", "period_s", "confidence", "phases", "valid_share", "metrics", "jitter", "drift"]
    assert list(document["regimes"][0]) == regime
    assert list(document["sampling"]) == ["fs_hz", "samples", "automatic", "abstraction_error", "signal"]
    assert set(document["metrics"]) == {
        "sigma_vol",
        "sigma_time",
        "r_io",
        "b_io",
        "volume_per_period",
        "periodicity_score",
    }


def test_numbers_are_pythons_and_what_is_not_finite_is_none() -> None:
    document = result().to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["periodic"] is True
    assert document["jitter"] is None
    assert document["metrics"]["b_io"] is None
    assert document["evidence"] == {
        "wavelet": "db1",
        "level": 3,
        "valid_share": 0.5,
        "correlation": None,
        "p_value": 1.0,
    }
    assert isinstance(document["period_s"], float)


def test_without_metrics_their_keys_remain() -> None:
    assert set(result(metrics=PeriodMetrics()).to_dict()["metrics"].values()) == {None}


def test_the_first_period_is_the_main_one() -> None:
    found = result()
    assert (found.periodic, found.period, found.frequency, found.confidence) == (True, 0.5, 2.0, 0.9)
    none = result(periods=())
    assert (none.periodic, none.period, none.period_interval, none.frequency) == (False, None, None, None)
    assert none.confidence == 0.0


def test_text_says_the_essentials() -> None:
    text = repr(result())
    for part in ("0.5 s", "[0.25, 0.75]", "0.900", "3 s", "100 bins at 10 Hz", "1 < 2"):
        assert part in text
    none = repr(result(recurrence=None, jitter=None, periods=()))
    assert "period: none" in none
    assert "recurrence" not in none


def test_html_is_escaped() -> None:
    page = result()._repr_html_()
    assert "&lt;b&gt;some&lt;/b&gt;" in page
    assert "1 &lt; 2 &amp; so on." in page
    assert "<b>" not in page


def test_results_are_frozen() -> None:
    with pytest.raises(AttributeError):
        result().period = 1.0  # type: ignore[misc]


def test_each_regime_has_a_row() -> None:
    page = result(regimes=(Regime(0.0, 4.0, 0.2), Regime(4.0, 9.5, 0.45)))._repr_html_()
    assert "0 to 4 s: every 0.2 s" in page
    assert "4 to 9.5 s: every 0.45 s" in page


def test_evidence_tells_of_a_filter_and_a_baseline_only_where_there_is_one() -> None:
    evidence = HybridEvidence(wavelet="db1", level=3)
    plain_keys = ["wavelet", "level", "valid_share", "correlation", "p_value"]
    assert list(evidence.to_dict()) == plain_keys
    assert list(replace(evidence, baseline=-1.0).to_dict()) == ["baseline", *plain_keys]
    filtered = replace(evidence, filter="low:0.5")
    assert list(filtered.to_dict()) == [*plain_keys, "filter", "baseline"]
    assert filtered.to_dict()["baseline"] is None


def test_what_is_just_certain_enough_is_certain() -> None:
    assert is_certain(CERTAIN, KNOWN)
    assert not is_certain(np.nextafter(CERTAIN, 0), KNOWN)
    assert not is_certain(CERTAIN, np.nextafter(KNOWN, 1))


@pytest.mark.parametrize(
    ("period", "half", "confidence", "grade"),
    [
        (100.0, 9.9, CERTAIN, "certain"),
        (100.0, 10.1, 1.0, "probable"),
        (0.01, 0.0099 * KNOWN, 1.0, "certain"),
        (0.01, 0.0101 * KNOWN, 1.0, "probable"),
        (1.0, 0.0, CERTAIN - 1e-9, "probable"),
    ],
)
def test_the_grade_goes_by_the_interval_as_a_share_of_the_period(period, half, confidence, grade):
    found = Period(period=period, period_interval=(period - half, period + half), confidence=confidence, volume=1.0)
    assert result(periods=(found,)).grade == grade
    assert result(periods=()).grade == "none"


def test_a_title_names_two_regimes_one_by_one():
    one, other = (
        replace(result().regimes[0], start=start, end=start + 4, period=period)
        for start, period in ((0.5, 1.0), (5.0, 2.0))
    )
    assert verdict_text(1.0, (one, other)) == "every 1 s from 500 ms to 4.5 s, then every 2 s from 5 s to 9 s"
    assert verdict_text(1.0, (one,)) == "every 1 s from 500 ms to 4.5 s"
    assert verdict_text(None, ()) == "no period"
