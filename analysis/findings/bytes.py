"""Findings about bytes that appear, vanish or come twice on their way down."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...layers.flow.access_pattern import read_back_bytes
from ...layers.flow.flow import Flow
from ...layers.flow.hidden import CAUSES, WITHOUT_PARENT
from ...model.arrays import Rows
from ...model.operations import view
from ...model.quantities import bytes_text, joined, named_ranks, percent_text
from .evidence import Evidence, Match
from .rules import Rule


def write_amplification(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers for which more is written at the bottom than at their top."""
    return _amplification(evidence, rule, "write")


def read_amplification(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers for which more is read at the bottom than at their top; reads inside writes do not count."""
    return _amplification(evidence, rule, "read")


def _amplification(evidence: Evidence, rule: Rule, direction: str) -> Iterator[Match]:
    for flow in evidence.to_bottom(direction):
        aside = _inside_writes(evidence, flow) if direction == "read" else 0
        moved, asked = flow.lower_bytes - aside, flow.upper_bytes
        if not asked or moved - asked < rule.thresholds["extra_bytes"]:
            continue
        amplification = moved / asked
        if amplification < rule.thresholds["amplification"]:
            continue
        word = "written" if direction == "write" else "read"
        steps = [
            {"upper": step.upper, "lower": step.lower, "amplification": step.amplification}
            for step in evidence.adjacent(direction)
            if step.upper_bytes and evidence.traffic.layer_row(step.upper) >= evidence.traffic.layer_row(flow.upper)
        ]
        yield Match(
            flow.upper,
            f"{flow.lower} has {word} {bytes_text(moved)} for {bytes_text(asked)} of {flow.upper}: "
            f"{amplification:.2f} times; "
            f"{bytes_text(flow.hidden_bytes)} of it outside of {flow.upper} operations",
            {
                "upper": flow.upper,
                "lower": flow.lower,
                "upper_bytes": asked,
                "lower_bytes": flow.lower_bytes,
                "extra_bytes": moved - asked,
                "amplification": amplification,
                "attributed_amplification": flow.attributed_amplification,
                "hidden_bytes": flow.hidden_bytes,
                "bytes_read_inside_writes": aside,
                "steps": steps,
                **evidence.where(flow.lower_rows),
            },
        )


def _inside_writes(evidence: Evidence, flow: Flow) -> int | float:
    """Return the bytes of the flow's lower reads that ran inside a write of any higher layer: data sieving."""
    traffic = evidence.traffic
    inside = np.zeros(len(flow.lower_rows), np.bool_)
    writes = traffic.of_direction("write")
    above = traffic.attribution.parent[flow.lower_rows]
    while (known := above >= 0).any():
        inside[known] |= writes[above[known]]
        above = np.where(known, traffic.attribution.parent[above], -1)
    return evidence.bytes(flow.lower_rows[inside])


def fill_rows(evidence: Evidence) -> tuple[Flow, Rows] | None:
    """Return the writes that a format library made to a file before the program's first write to it.

    They are by descent from the format layer and outside of its operations. Of several format layers the highest with
    such writes counts, of layers below it the lowest.
    """
    for name in evidence.formats:
        flows = [flow for flow in evidence.flows if flow.upper == name and flow.direction == "write"]
        flows = [flow for flow in flows if flow.lower_operations and flow.upper_operations]
        if not flows:
            continue
        flow = flows[-1]
        traffic = evidence.traffic
        begin = traffic.operations.begin
        first = np.full(len(traffic.definitions.files.name) + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, evidence.files(flow.upper_rows), begin[flow.upper_rows])
        rows = flow.hidden_rows
        early = begin[rows] < first[evidence.files(rows)]
        # A file that the program writes nothing to holds no variables to be filled.
        written = first[evidence.files(rows)] < np.iinfo(np.int64).max
        rows = rows[early & written]
        if len(rows) and evidence.bytes(rows):
            return flow, rows
    return None


def fill_values(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find variables that a format library fills before they are written."""
    found = fill_rows(evidence)
    if found is None:
        return
    flow, rows = found
    filled = evidence.bytes(rows)
    if filled < rule.thresholds["bytes"] or filled < rule.thresholds["share"] * flow.upper_bytes:
        return
    where = evidence.where(rows)
    start, end = where["time_range_s"]
    first = evidence.traffic.operations.begin[flow.upper_rows].min() / evidence.traffic.window.ticks_per_second
    again = flow.lower_access.overlapping_bytes
    yield Match(
        flow.upper,
        f"{flow.upper} filled {joined(where['files'], where['file_count'])} with {bytes_text(filled)} "
        f"before the program "
        f"wrote it: {flow.lower} writes by {named_ranks(where['ranks'])} from {start:.3f} to {end:.3f} s, outside of "
        f"any {flow.upper} operation",
        {
            "lower": flow.lower,
            "fill_bytes": filled,
            "fill_operations": len(rows),
            "program_bytes": flow.upper_bytes,
            "share_of_program_bytes": filled / flow.upper_bytes if flow.upper_bytes else None,
            "first_program_write_s": float(first),
            "bytes_written_twice": again,
            **where,
        },
    )


def data_sieving(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find reads inside writes of the layer above."""
    for flow in evidence.adjacent("write"):
        read = flow.against_bytes
        if read < rule.thresholds["bytes"]:
            continue
        where = evidence.where(flow.against)
        share = read / flow.lower_bytes if flow.lower_bytes else None
        extra = flow.lower_bytes - flow.upper_bytes
        more = f" and {bytes_text(extra)} more written than {flow.upper} asked for" if extra > 0 else ""
        yield Match(
            flow.upper,
            f"{flow.upper} writes made {flow.lower} read {bytes_text(read)} in {len(flow.against):,} operations"
            f" by {named_ranks(where['ranks'])}{more}: blocks are read, changed and written back",
            {
                "upper": flow.upper,
                "lower": flow.lower,
                "read_bytes": read,
                "read_operations": len(flow.against),
                "extra_written_bytes": extra,
                "share_of_written": share,
                **where,
            },
            "warning" if share is None or share >= rule.thresholds["severe_share"] else "info",
        )


def read_back(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find processes that read their own writes, in layers whose offsets count from the start of the file."""
    for layer in evidence.traffic.layers:
        if not evidence.traffic.absolute_offsets(layer):
            continue
        rows = evidence.rows(layer, "total")
        back = read_back_bytes(view(evidence.traffic.operations, rows), evidence.files(rows))
        written = evidence.bytes(evidence.rows(layer, "write"))
        if back < rule.thresholds["bytes"] or back < rule.thresholds["share"] * written:
            continue
        yield Match(
            layer,
            f"{layer}: processes read {bytes_text(back)} that they had written themselves, "
            f"{percent_text(back / written)} of what they wrote",
            {"read_back_bytes": back, "written_bytes": written, "share": back / written},
        )


def missing_lower_layer(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers of parallel libraries whose bytes are recorded nowhere below."""
    traffic = evidence.traffic
    descends_with_operations = np.zeros(len(traffic.layers), np.bool_)
    above = traffic.at_handles(traffic.stack.higher)
    while (known := above >= 0).any():
        descends_with_operations[traffic.stack.layer[above[known]]] = True
        above = np.where(known, traffic.stack.higher[above], -1)
    for row, layer in enumerate(traffic.layers):
        if layer not in evidence.parallel or descends_with_operations[row]:
            continue
        rows = evidence.rows(layer, "total")
        moved = evidence.bytes(rows)
        if moved < rule.thresholds["bytes"]:
            continue
        lower = [name for name in traffic.layers[row + 1 :] if len(evidence.rows(name, "total"))]
        others = f"; {' and '.join(lower)} hold the program's own calls only" if lower else ""
        yield Match(
            layer,
            f"{layer} moved {bytes_text(moved)}, but no operation of a layer below was recorded for "
            f"it{others}: {layer} "
            "must reach the storage by calls that were not wrapped",
            {"bytes": moved, "operations": len(rows), "recorded_lower_layers": lower, **evidence.where(rows)},
        )


def hidden_bytes(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find bytes outside of the operations of the layer above that are no fill values."""
    for one in evidence.trace.hidden:
        if one.kind != WITHOUT_PARENT:
            continue
        fills = _filled(evidence, one.layer) if one.direction == "write" else 0
        rest = one.bytes - fills
        explained: dict[str, Any] = {"fill_bytes": fills} if fills else {}
        if rest < rule.thresholds["bytes"] or rest < rule.thresholds["share"] * one.bytes / one.share:
            continue
        yield Match(
            one.layer,
            f"{one.layer} {'wrote' if one.direction == 'write' else 'read'} {bytes_text(rest)} for "
            f"{one.other} outside of "
            f"any {one.other} operation, {percent_text(rest * one.share / one.bytes)} of its bytes: "
            f"{CAUSES[one.cause]}",
            {**one.to_dict(), "unexplained_bytes": rest, **explained},
        )


def _filled(evidence: Evidence, layer: str) -> int | float:
    """Return the fill bytes among a layer's writes that have no parent."""
    found = fill_rows(evidence)
    if found is None:
        return 0
    rows = found[1]
    traffic = evidence.traffic
    parent = traffic.attribution.parent
    while len(rows) and not (traffic.layer[rows] == traffic.layer_row(layer)).all():
        rows = np.unique(parent[rows][parent[rows] >= 0])
    return evidence.bytes(rows[parent[rows] < 0])
