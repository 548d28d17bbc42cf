"""Times in words."""

import pytest
from iostrata.analysis.phases.reasons import few
from iostrata.model.quantities import seconds_text, spaced


@pytest.mark.parametrize(
    ("value", "text"),
    [(41.2, "41.2 s"), (0.0025, "2.5 ms"), (3e-6, "3 µs"), (5.0, "5 s"), (7200.0 * 60, "120 h"), (0.4015, "402 ms")],
)
def test_seconds(value: float, text: str) -> None:
    assert seconds_text(value) == text


@pytest.mark.parametrize(
    ("period", "jitter", "text"),
    [(41.0, 0.05, "41 ± 2.1 s apart"), (0.4, 0.0, "400 ms apart"), (41.0, 1e-7, "41 s apart")],
)
def test_spaced(period: float, jitter: float, text: str) -> None:
    assert spaced(period, jitter) == text


def test_few() -> None:
    assert few(0) == "The signal never leaves its mean: no bursts."
    assert few(1).startswith("1 burst:")
    assert "at least four" in few(3)
    assert "parts of one" in few(12)
