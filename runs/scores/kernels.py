"""Compiled loops: segments out of samples, and the scores of jobs out of segments.

Numba may have to compile it: import it inside the function that uses it.
"""

import numpy as np

from ...model.arrays import Floats, Ints, Mask
from ...model.kernels import compiled


@compiled
def segment_means(start: Ints, time: Floats, value: Floats, origin: Floats, length: float) -> tuple[Ints, Ints, Floats]:
    """Return the means over segments of samples in series: first segment, offsets and values.

    Parameters
    ----------
    start : int64 (n + 1,)
        Where each series begins among the samples.
    time, value : float64 (m,)
        Of the samples, times ascending in each series; a value that is negative or not finite is missing.
    origin : float64 (n,)
        When segment 0 of each series begins.
    length : float
        Of a segment in s.
    """
    series = len(start) - 1
    first = np.zeros(series, np.int64)
    offset = np.zeros(series + 1, np.int64)
    for one in range(series):
        low, high = start[one], start[one + 1]
        first[one] = np.int64(np.floor((time[low] - origin[one]) / length + 1e-9))
        last = np.int64(np.floor((time[high - 1] - origin[one]) / length + 1e-9))
        offset[one + 1] = offset[one] + last - first[one] + 1
    means = np.full(offset[series], np.nan)
    for one in range(series):
        total, count, segment = 0.0, 0, np.int64(-1)
        for row in range(start[one], start[one + 1]):
            here = np.int64(np.floor((time[row] - origin[one]) / length + 1e-9))
            if here != segment:
                if count:
                    means[offset[one] + segment - first[one]] = total / count
                total, count, segment = 0.0, 0, here
            if np.isfinite(value[row]) and value[row] >= 0:
                total += value[row]
                count += 1
        if count:
            means[offset[one] + segment - first[one]] = total / count
    return first, offset, means


@compiled
def assess_jobs(
    begin: Ints,
    node: Ints,
    filesystem: Ints,
    first: Ints,
    offset: Ints,
    scores: Floats,
    segments: Ints,
    idle: Ints,
    systems: int,
    threshold: float,
) -> tuple[Ints, Ints, Floats, Floats, Ints, Ints]:
    """Return of each job: intensive segments, nodes, Utilization, Balance, file systems used, values that are there.

    Parameters
    ----------
    begin : int64 (j + 1,)
        Where the series of each job begin; ordered by node within a job.
    node, filesystem, first : int64 (n,)
    offset : int64 (n + 1,)
    scores : float64 (m,)
        NaN where missing.
    segments, idle : int64 (j,)
        Of each job, its segments and the nodes that do nothing.
    systems : int
        Number of file systems.
    threshold : float
        A segment is intensive where its JScore is above.
    """
    jobs = len(segments)
    intensive, nodes = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
    utilization, balance = np.zeros(jobs), np.full(jobs, np.nan)
    used, there = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
    for job in range(jobs):
        count = segments[job]
        total = np.zeros(count)
        highest = np.zeros((systems, count))
        largest = np.zeros(count)
        # Nodes that have a value in a segment.
        present = np.full(count, idle[job])
        low = begin[job]
        while low < begin[job + 1]:
            high = low + 1
            while high < begin[job + 1] and node[high] == node[low]:
                high += 1
            there[job] += _add_node(low, high, filesystem, first, offset, scores, total, highest, largest, present)
            nodes[job] += 1
            low = high
        nodes[job] += idle[job]
        busy = total > threshold
        intensive[job] = busy.sum()
        if intensive[job]:
            shares = 0.0
            for segment in np.flatnonzero(busy):
                shares += total[segment] / present[segment] / largest[segment]
            balance[job] = shares / intensive[job]
            used[job], utilization[job] = _load_of_systems(highest, busy, intensive[job])
    return intensive, nodes, utilization, balance, used, there


@compiled
def _add_node(
    low: int,
    high: int,
    filesystem: Ints,
    first: Ints,
    offset: Ints,
    scores: Floats,
    total: Floats,
    highest: Floats,
    largest: Floats,
    present: Ints,
) -> int:
    """Add the series of a node, those from `low` to `high`, to what its job has in each segment; count their values."""
    own = np.zeros(len(total))
    known = np.zeros(len(total), np.bool_)
    there = 0
    for one in range(low, high):
        for place in range(offset[one], offset[one + 1]):
            score = scores[place]
            if np.isnan(score):
                continue
            segment = first[one] + place - offset[one]
            there += 1
            known[segment] = True
            total[segment] += score
            own[segment] += score
            highest[filesystem[one], segment] = max(highest[filesystem[one], segment], score)
    for segment in np.flatnonzero(known):
        present[segment] += 1
        largest[segment] = max(largest[segment], own[segment])
    return there


@compiled
def _load_of_systems(highest: Floats, busy: Mask, intensive: int) -> tuple[int, float]:
    """Return how many file systems intensive segments use, and the sum of the means of their highest scores."""
    used, load = 0, 0.0
    for system in range(len(highest)):
        summed = 0.0
        for segment in np.flatnonzero(busy):
            summed += highest[system, segment]
        if summed > 0:
            used += 1
            load += summed / intensive
    return used, load
