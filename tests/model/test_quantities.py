"""Numbers with units: readable, never off by a prefix, never rounded to nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.quantities import (
    bytes_text,
    counted,
    deviation_text,
    frequency_text,
    interval_text,
    percent_text,
    range_text,
    rate_text,
    seconds_range_text,
    seconds_text,
    share_text,
)

FACTORS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
TIMES = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6}


@given(st.integers(0, 2**64))
def test_bytes_are_right_to_three_digits(volume):
    number, unit = bytes_text(volume).split()
    assert unit.endswith("B")
    assert float(number.replace(",", "")) * FACTORS[unit[:-1]] == pytest.approx(volume, rel=5.1e-3)
    assert len(number) <= 5 or unit == "EB"


@given(st.floats(1e-9, 1e9))
def test_times_are_right_to_three_digits(seconds):
    number, unit = seconds_text(seconds).split()
    assert float(number.replace(",", "")) * TIMES[unit] == pytest.approx(seconds, rel=5.1e-3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (bytes_text(0), "0 B"),
        (bytes_text(999), "999 B"),
        (bytes_text(1000), "1 kB"),
        (bytes_text(999_499), "999 kB"),
        (bytes_text(999_500), "1 MB"),
        (bytes_text(167_772_160), "168 MB"),
        (bytes_text(0.5), "0.5 B"),
        (rate_text(1.36e9), "1.36 GB/s"),
        (frequency_text(0.0125), "0.0125 Hz"),
        (frequency_text(1978), "1.98 kHz"),
        (seconds_text(0), "0 s"),
        (seconds_text(0.401), "401 ms"),
        (seconds_text(0.0123), "12.3 ms"),
        (seconds_text(45e-6), "45 µs"),
        (seconds_text(86400), "24 h"),
        (interval_text(0.401, None), "401 ms"),
        (interval_text(0.4012, (0.392, 0.409)), "401 ms (392 … 409 ms)"),
        (interval_text(10, (9.4, 10.7)), "10.0 s (9.4 … 10.7 s)"),
        (interval_text(0.0123, (0.0121, 0.0125)), "12.30 ms (12.10 … 12.50 ms)"),
        (interval_text(2, (2, 2)), "2.000 s (2.000 … 2.000 s)"),
        (counted(1, "file"), "1 file"),
        (counted(12345, "file"), "12,345 files"),
        (counted(2, "flush", "flushes"), "2 flushes"),
        (share_text(0, 5), "0 %"),
        (share_text(5, 5), "100 %"),
        (share_text(1, 0), "–"),
    ],
)
def test_examples(text, expected):
    assert text == expected


@given(st.floats(1e-6, 1e6), st.floats(0, 0.5))
def test_the_ends_of_an_interval_are_told_apart_from_its_middle(value, spread):
    low, high = value * (1 - spread), value * (1 + spread)
    numbers = [
        float(text.replace(",", "")) for text in re.findall(r"[\d,]+(?:\.\d+)?", interval_text(value, (low, high)))
    ]
    assert numbers[1] <= numbers[0] <= numbers[2]


@given(st.floats(0.001, 0.999))
def test_a_part_is_neither_nothing_nor_everything(part):
    text = share_text(part, 1)
    assert text not in ("0 %", "100 %")


def test_rounding_is_no_jitter_and_no_width():
    assert percent_text(4.74e-16) == "<0.0001 %"
    assert interval_text(0.01, (0.01, 0.01 + 2e-18)) == "10.000 ms (10.000 … 10.000 ms)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (range_text(0, 8000), "0 … 133 min"),
        (range_text(0.663, 8.291), "0.66 … 8.29 s"),
        (range_text(1, 9.999), "1.00 … 10.00 s"),
        (range_text(1, 10), "1.0 … 10.0 s"),
        (range_text(1, 99.9), "1.0 … 99.9 s"),
        (range_text(1, 100), "1 … 100 s"),
        (range_text(0.1162, 0.1164), "116 ms"),
        (interval_text(5, (4.5, 5.5)), "5.0 s (4.5 … 5.5 s)"),
        (interval_text(50, (45, 55)), "50 s (45 … 55 s)"),
        (interval_text(5, (4.99, 5.01)), "5.000 s (4.990 … 5.010 s)"),
        (interval_text(5, (5, 5.000002)), "5.000000 s (5.000000 … 5.000002 s)"),
        (deviation_text(0.4012, (0.392, 0.409)), "401 ±9 ms"),
        (deviation_text(5, (4.8, 5.1)), "5.0 ±0.2 s"),
        (deviation_text(5, (4.9, 5.2)), "5.0 ±0.2 s"),
        (deviation_text(50, (30, 60)), "50 ±20 s"),
        (deviation_text(5, (5, 5)), "5 s"),
        (deviation_text(5, None), "5 s"),
        (seconds_range_text(1.14, 3.1), "1.1 to 3.1 s"),
        (seconds_range_text(0.05, 2.0), "50 ms to 2 s"),
        (seconds_range_text(0.188, 0.1881), "188 ms"),
        (seconds_range_text(0.0, 3.1), "up to 3.1 s"),
        (seconds_text(7199), "7199 s"),
        (seconds_text(7200), "120 min"),
        (seconds_text(35_999), "600 min"),
        (seconds_text(36_000), "10 h"),
    ],
)
def test_ranges_and_deviations(text, expected):
    assert text == expected
