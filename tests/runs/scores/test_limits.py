"""Training: quantiles, Z, and the file that holds them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError, TraceError
from iostrata.runs.scores.blocks import METRICS, MetricBlock
from iostrata.runs.scores.limits import MetricLimits, Training, critical_score, read_limits, train


def block(values, metric="read_calls"):
    values = np.asarray(values, np.float64)
    one = np.zeros(1, np.int64)
    return MetricBlock(
        ("j",), ("",), ("n",), one, one, one, np.array([METRICS.index(metric)]), one,
        np.array([0, len(values)]), values, np.array([len(values)]), np.ones(1), one,
    )  # fmt: skip


PARTS = st.lists(
    st.lists(st.floats(0, 1e9) | st.just(0.0) | st.just(float("nan")), min_size=1, max_size=80), min_size=1, max_size=5
)


@given(PARTS, st.tuples(st.floats(0.01, 0.98), st.floats(0.001, 0.01)))
def test_limits_are_numpys_quantiles_of_all_values(parts, shares):
    low, high = shares[0], shares[0] + shares[1]
    values = np.concatenate([np.array(part) for part in parts])
    if np.isnan(values).all():
        return
    found = train(map(block, parts), quantiles=(low, high)).limits["read_calls"]
    assert found == pytest.approx(np.nanquantile(values, [low, high]), rel=1e-9, abs=1e-9)


def test_keeping_only_what_may_count_changes_nothing(monkeypatch):
    monkeypatch.setattr("iostrata.runs.scores.limits._SLACK", 10)
    random = np.random.default_rng(0)
    parts = [random.lognormal(0, 3, 1000) * (random.random(1000) < 0.3) for _ in range(40)]
    training = Training(most_values=40_000)
    for part in parts:
        training.add(block(part))
        assert sum(len(one) for one in training._above[METRICS.index("read_calls")]) < 3000
    whole = np.quantile(np.concatenate(parts), [0.99, 0.999])
    assert training.limits().limits["read_calls"] == pytest.approx(whole)


def test_the_score_of_critical_io_is_the_least_ratio():
    published = {"read_calls": (348.91, 1573.45), "md_other": (20.87, 79.31), "md_mod": (0.0, 0.67)}
    assert critical_score(published) == 4
    assert critical_score({"md_mod": (0.0, 0.67)}) == 2
    assert critical_score({"md_mod": (1.0, 1.1)}) == 2


def test_limits_survive_their_file(tmp_path):
    limits = train([block(np.arange(1000.0)), block(np.zeros(10), "md_mod")], segment_s=0.4)
    path = tmp_path / "limits.json"
    path.write_text(json.dumps(limits.to_dict()))
    read = read_limits(path)
    assert (read.limits, read.segment_s, read.critical, read.quantiles) == (
        limits.limits, 0.4, limits.critical, (0.99, 0.999),
    )  # fmt: skip


SOUND = {"schema_version": 1, "segment_s": 1, "quantiles": [0.1, 0.2], "critical": 4, "limits": {"md_mod": [0, 1]}}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("schema_version", 99, "its schema_version is 99, this program reads 1"),
        ("schema_version", None, "no schema_version"),
        ("schema_version", True, "schema_version is True"),
        ("schema_version", "1", "schema_version is 1"),
        ("limits", {"md_mod": [2, 1]}, "do not ascend from 0"),
        ("limits", {"md_mod": [0, "1"]}, "'1' in the limits of md_mod is no number"),
        ("limits", {"md_mod": [0, math.nan]}, "no number"),
        ("limits", {"md_mod": 3}, "not two numbers"),
        ("limits", {"md_mod": [1, 2, 3]}, "not two numbers"),
        ("limits", {"other": [0, 1]}, "unknown metric 'other'"),
        ("limits", {}, "a pair of numbers for each metric"),
        ("limits", [], "a pair of numbers for each metric"),
        ("limits", ..., "no limits"),
        ("quantiles", [0.9, 0.5], "do not ascend"),
        ("quantiles", [0.5, 0.5], "do not ascend"),
        ("quantiles", [0, 0.5], "do not ascend"),
        ("quantiles", [0.5, 1], "do not ascend"),
        ("quantiles", "ab", "not two numbers"),
        ("segment_s", 0, "segment_s 0"),
        ("segment_s", True, "no number"),
        ("segment_s", ..., "no segment_s"),
        ("critical", 0.5, "critical 0.5"),
        ("critical", None, "no number"),
        ("jobs", [], "no number"),
    ],
)
def test_limits_of_another_version_or_with_wrong_values_are_refused_in_one_line(tmp_path, key, value, words):
    path = tmp_path / "limits.json"
    path.write_text(json.dumps(SOUND))
    read_limits(path)
    path.write_text(json.dumps({**SOUND, key: value} if value is not ... else {k: SOUND[k] for k in SOUND if k != key}))
    with pytest.raises(TraceError, match="not a file of limits") as caught:
        read_limits(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "[" * 100_000, json.dumps(SOUND).replace("[0, 1]", "[0, 1" + 400 * "0" + "]")]
)
def test_a_file_that_holds_no_limits_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "limits.json"
    path.write_text(text)
    with pytest.raises(TraceError, match="not a file of limits") as caught:
        read_limits(path)
    assert "\n" not in str(caught.value)


def test_quantiles_and_empty_training_are_refused():
    with pytest.raises(SelectionError, match="quantiles"):
        Training((0.9, 0.5))
    with pytest.raises(SelectionError, match="no values"):
        Training().limits()
    assert isinstance(MetricLimits({"md_mod": (0.0, 1.0)}).bounds[0], np.ndarray)
