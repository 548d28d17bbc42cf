"""Compiled emission of OTF2 event and local definition files, byte by byte, for traces of any size.

The bytes are those that libotf2 3.x writes: chunk headers, time stamps, records, end markers. The event stream is
pseudo-random but seeded, so a trace of given sizes is the same everywhere.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

HEADER = 18
LONGEST_EVENT = 96
"""More bytes than any event here takes with its time stamp and attribute list."""


@njit(cache=True, nogil=True)
def _put_word(out: npt.NDArray[np.uint8], at: int, value: int, size: int) -> int:
    for place in range(size):
        out[at + place] = (value >> (8 * place)) & 0xFF
    return at + size


@njit(cache=True, nogil=True)
def _put_integer(out: npt.NDArray[np.uint8], at: int, value: int) -> int:
    """Write a compressed integer: its size in bytes, then as many bytes."""
    size = 0
    rest = value
    while rest > 0:
        size += 1
        rest >>= 8
    out[at] = size
    return _put_word(out, at + 1, value, size)


@njit(cache=True, nogil=True)
def _put_header(out: npt.NDArray[np.uint8], at: int, first: int, last: int) -> None:
    out[at] = 3
    out[at + 1] = 0x42
    _put_word(out, at + 2, first, 8)
    _put_word(out, at + 10, last, 8)


@njit(cache=True, nogil=True)
def _put_single(out: npt.NDArray[np.uint8], at: int, kind: int, value: int) -> int:
    out[at] = kind
    return _put_integer(out, at + 1, value)


@njit(cache=True, nogil=True)
def _put_integers(out: npt.NDArray[np.uint8], at: int, kind: int, values: tuple[int, ...]) -> int:
    """Write a record whose fields are all compressed integers, behind its length."""
    end = at + 2
    for value in values:
        end = _put_integer(out, end, value)
    out[at] = kind
    out[at + 1] = end - at - 2
    return end


@njit(cache=True, nogil=True)
def _put_begin(
    out: npt.NDArray[np.uint8], at: int, handle: int, mode: int, flags: int, size: int, matching: int
) -> int:
    end = _put_integer(out, at + 2, handle)
    out[end] = mode
    end = _put_integer(out, end + 1, flags)
    end = _put_integer(out, end, size)
    end = _put_integer(out, end, matching)
    out[at] = 75
    out[at + 1] = end - at - 2
    return end


@njit(cache=True, nogil=True)
def _put_offset(out: npt.NDArray[np.uint8], at: int, attribute: int, offset: int) -> int:
    end = _put_integer(out, at + 2, 1)
    end = _put_integer(out, end, attribute)
    out[end] = 4
    end = _put_integer(out, end + 1, offset)
    out[at] = 6
    out[at + 1] = end - at - 2
    return end


@njit(cache=True, nogil=True)
def _put_metric(out: npt.NDArray[np.uint8], at: int, metric: int, value: int) -> int:
    """Write a metric record with one value of type UINT64."""
    end = _put_integer(out, at + 2, metric)
    out[end] = 1
    out[end + 1] = 4
    end = _put_integer(out, end + 2, value)
    out[at] = 31
    out[at + 1] = end - at - 2
    return end


@njit(cache=True, nogil=True)
def _random(state: int) -> int:
    """Advance a 31-bit linear congruential generator (Park and Miller 1988)."""
    return (state * 48271) % 2147483647


@njit(cache=True, nogil=True)
def emit_events(
    out: npt.NDArray[np.uint8],
    events: int,
    chunk: int,
    per_mille_io: int,
    handles: int,
    regions: int,
    attribute: int,
    start: int,
    step: int,
    seed: int,
) -> int:
    """Write the event file of one location to `out`; give the bytes written, −1 where `out` is too small.

    Of each thousand events about `per_mille_io` are begins and completes of I/O operations (in pairs, in turns
    with and without an *Offset* attribute); the rest are enter and leave, MPI sends and receives, and metrics.
    """
    at = HEADER
    chunk_start = 0
    first = 1
    written = 0
    now = start
    state = seed + 1
    pending = 0
    depth = 0
    offset = 0
    while written < events:
        if at + LONGEST_EVENT + 2 > len(out):
            return -1
        if at + LONGEST_EVENT > chunk_start + chunk:
            _put_header(out, chunk_start, first, written)
            while at < chunk_start + chunk:
                out[at] = 0
                at += 1
            chunk_start = at
            at += HEADER
            first = written + 1
        state = _random(state)
        draw = (state >> 8) % 1000
        now += 1 + (state >> 12) % (2 * step)
        out[at] = 5
        at = _put_word(out, at + 1, now, 8)
        if pending > 0:
            at = _put_integers(out, at, 78, (pending % handles, 4096 + pending % 100000, 1))
            pending = 0
        elif 2 * draw < per_mille_io + (per_mille_io == 1000) * 1000 and written + 1 < events:
            pending = 1 + state % 1000003
            offset += 4096
            if (written >> 7) % 2 == 0:
                at = _put_offset(out, at, attribute, offset)
            at = _put_begin(out, at, pending % handles, pending % 2, 0, 4096 + pending % 100000, 1)
        elif draw % 10 < 7:
            if depth < 10 and (depth == 0 or draw % 2 == 0):
                at = _put_single(out, at, 12, state % regions)
                depth += 1
            else:
                at = _put_single(out, at, 13, state % regions)
                depth -= 1
        elif draw % 10 < 8:
            at = _put_integers(out, at, 14, (state % 16, 0, draw, 8 * draw))
        elif draw % 10 < 9:
            at = _put_integers(out, at, 18, (state % 16, 0, draw, 8 * draw))
        else:
            at = _put_metric(out, at, 0, state)
        written += 1
    _put_header(out, chunk_start, first, written)
    out[at] = 2
    out[at + 1] = 1
    return at + 2


@njit(cache=True, nogil=True)
def emit_layered_events(
    out: npt.NDArray[np.uint8],
    events: int,
    chunk: int,
    handles: int,
    collective: int,
    start: int,
    step: int,
    seed: int,
) -> int:
    """Write the event file of one location with two layers to `out`; give the bytes written, −1 where it is too small.

    Events come in sixes: a collective write on one of the first `handles` / 2 handles, and inside of it two operations
    on the handle that lies as far behind it in the second half. Bursts of 32 such calls are followed by a pause of
    their length, so that there is a period.
    """
    at = HEADER
    chunk_start = 0
    first = 1
    now = start
    state = seed + 1
    upper = handles // 2
    for written in range(events):
        if at + LONGEST_EVENT + 2 > len(out):
            return -1
        if at + LONGEST_EVENT > chunk_start + chunk:
            _put_header(out, chunk_start, first, written)
            while at < chunk_start + chunk:
                out[at] = 0
                at += 1
            chunk_start = at
            at += HEADER
            first = written + 1
        state = _random(state)
        call, part = written // 6, written % 6
        if part == 0:
            now = max(now + 1, start + step * (6 * call + 192 * (call // 32)))
        now += 1 + (state >> 12) % step
        out[at] = 5
        at = _put_word(out, at + 1, now, 8)
        handle = call % upper
        size = 8192 + 4096 * (call % 7)
        if part == 0:
            at = _put_begin(out, at, handle, 1, collective, 2 * size, 1)
        elif part == 5:
            at = _put_integers(out, at, 78, (handle, 2 * size, 1))
        elif part % 2:
            at = _put_begin(out, at, handle + upper, 1, 0, size, 1)
        else:
            at = _put_integers(out, at, 78, (handle + upper, size, 1))
    _put_header(out, chunk_start, first, events)
    out[at] = 2
    out[at + 1] = 1
    return at + 2


@njit(cache=True, nogil=True)
def emit_local_definitions(
    out: npt.NDArray[np.uint8], handles: int, first_handle: int, times: npt.NDArray[np.int64], offset: int
) -> int:
    """Write a local definition file: a dense map of `handles` ids from `first_handle` on, two clock offsets."""
    _put_header(out, 0, 1, 0)
    body = HEADER + 10
    at = body
    out[at] = 13
    at = _put_integer(out, at + 1, handles)
    out[at] = 0
    at += 1
    for handle in range(handles):
        at = _put_integer(out, at, first_handle + handle)
    out[HEADER] = 5
    out[HEADER + 1] = 255
    _put_word(out, HEADER + 2, at - body, 8)
    for time in times:
        record = at
        at = _put_word(out, at + 2, time, 8)
        at = _put_integer(out, at, offset)
        at = _put_word(out, at, 0, 8)
        out[record] = 6
        out[record + 1] = at - record - 2
    out[at] = 2
    out[at + 1] = 1
    return at + 2
