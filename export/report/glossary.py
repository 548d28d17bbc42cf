"""What the numbers of a trace's page mean that are not metrics of layers: hints and the glossary of the page."""

from typing import Final

GLOSSARY: Final = {
    "period": "Mean time from one burst of I/O to the next.",
    "interval": "Range in which the period lies, as the method gives it.",
    "confidence": "How sure the method is of the verdict, from 0 to 1.",
    "recurrence": "Mean time between the starts of phases, given from four phases on, periodic or not.",
    "jitter": "Coefficient of variation of the time between the starts of phases: standard deviation divided by mean.",
    "phases": "Bursts of substantial I/O.",
    "regimes": "Stretches of the run in which one period holds.",
    "bytes a period": "Bytes of substantial I/O in one period.",
    "R_IO": "R_IO: share of the time that is spent on substantial I/O, that is above the mean rate.",
    "B_IO": "B_IO: mean rate of the substantial I/O.",
    "periodicity score": "1 − σ_vol − σ_time, from 0 to 1: how alike the periods are in volume and in time (FTIO, "
    "IPDPS'24).",
    "sampling": "Bins per second in which the signal was averaged for the analysis.",
    "bandwidth": "Sum over all ranks; every operation spreads its bytes evenly over its time. Full colour: the mean in"
    " each column of the picture, so that areas are bytes. Pale: from the smallest to the largest rate in the column.",
    "significance": "What the strongest line of white noise exceeds in 1 % of cases (Fisher 1929).",
    "candidates": "Frequencies that the method took into account.",
    "amplification": "Bytes of the lower layer through handles that descend from the upper layer, divided by the bytes "
    "of the upper layer.",
    "amplification inside": "The same, but only what ran inside operations of the upper layer.",
    "hidden": "Bytes of the lower layer through handles below those of the upper layer, but outside any of its "
    "operations.",
    "fan-out": "Operations of the lower layer inside one operation of the upper layer, on average; those inside its "
    "flushes count too, as in the amplification inside. Of a collective call each rank's operation counts.",
    "writers": "Ranks that moved bytes.",
    "movers": "Ranks of the lower layer that moved bytes beneath one call of the upper layer: mean, smallest, largest.",
    "participants": "Distinct ranks that make one collective call.",
    "collective calls": "Collective calls of two ranks or more beneath which bytes moved; a call of all its ranks "
    "counts once.",
    "by one rank": "Share of the calls in which a single rank does all the transfer below.",
    "confidence of a regime": "How sure the method is of the period in this stretch by itself, from 0 to 1.",
    "modulation": "Amplitude at the period of the upper layer over the mean rate: 0 is flat, 2 is all bytes in "
    "instants.",
    "stretches": "Parts of the run between the edges of the regimes of either layer, with the periods there and how "
    "they relate.",
    "verdict": "What became below of the upper layer's period: the same, a harmonic, split, smeared, or absent; or of "
    "the iterations (×) of a loop: as many operations, merged, split, late, or cached.",
    "lag": "How much later the lower layer moves its bytes; positive: it follows.",
    "coherence": "How well the signals of two layers agree at the upper layer's period, from 0 to 1.",
    "subtree": "The handle and all below it. Layers are views of the same traffic, so a subtree counts it once in "
    "each.",
    "metadata events": "Events that name the handle and move no data: open, close, duplicate, seek, lock.",
    "calls in calls": "All calls of the lower layer on selected files inside a call of the upper one: transfers, and "
    "what runs under opens, closes and other functions that move no data.",
    "set aside": "Operations on files of the system, MPI or Python, and on handles without a file, which the numbers "
    "above leave out.",
}
"""The definition of each by its name."""
