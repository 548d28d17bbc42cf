"""Findings about bytes that appear, vanish or come twice on their way down."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...layers.flow.flow import Flow
from ...layers.flow.hidden import CAUSES, WITHOUT_PARENT
from ...model.arrays import Mask
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
        beside = f", beside {bytes_text(aside)} read inside writes" if aside else ""
        hidden = flow.hidden_bytes
        outside = f"; {bytes_text(hidden)} of it outside of {flow.upper} operations" if hidden else ""
        steps = [
            {"upper": step.upper, "lower": step.lower, "amplification": step.amplification}
            for step in evidence.adjacent(direction)
            if step.upper_bytes and _on_the_way(evidence, flow, step)
        ]
        yield Match(
            flow.upper,
            f"{flow.lower} has {word} {bytes_text(moved)} for {bytes_text(asked)} of {flow.upper}{beside}: "
            f"{amplification:.2f} times{outside}",
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
                **evidence.where(flow.parts["lower"]),
            },
            cells=flow.parts["lower"],
            cost_s=(1 - asked / moved) * float(evidence.rank_seconds(flow.parts["lower"]).max(initial=0.0)),
        )


def _on_the_way(evidence: Evidence, flow: Flow, step: Flow) -> bool:
    """Tell whether what a flow moved passed through the two layers of a step."""
    cells = evidence.cells
    top, bottom, upper, lower = (cells.layer_row(one) for one in (flow.upper, flow.lower, step.upper, step.lower))
    starts = upper == top or bool(cells.descends(top, upper).any())
    ends = lower == bottom or bool(cells.descends(lower, bottom).any())
    return starts and ends


def _inside_writes(evidence: Evidence, flow: Flow) -> int | float:
    """Return the bytes of the flow's lower reads that ran inside a write of any higher layer: data sieving."""
    cells = evidence.cells
    writes = cells.of_direction("write")
    inside = np.zeros(len(writes), np.bool_)
    above = cells.attribution.parent
    while (known := above >= 0).any():
        inside[known] |= writes[above[known]]
        above = np.where(known, cells.attribution.parent[above], -1)
    return cells.bytes(inside & flow.parts["lower"])


def fill_writes(evidence: Evidence) -> tuple[Flow, Mask, Mask] | None:
    """Return the writes that a format library made to a file before the program's first write to it.

    They are by descent from the format layer and outside of its operations; those in the flow's lower layer, and those
    in any layer. A process that writes the file itself is only taken to fill it before its own first write. Of several
    format layers the highest with such writes counts, of layers below it the lowest.
    """
    cells = evidence.cells
    for name in evidence.sums.formats:
        flows = [flow for flow in evidence.flows if flow.upper == name and flow.direction == "write"]
        flows = [flow for flow in flows if flow.lower_operations and flow.upper_operations]
        if not flows:
            continue
        flow, upper = flows[-1], flows[-1].parts["upper"]
        # A file that the program writes nothing to holds no variables to be filled.
        first = np.full(len(cells.definitions.files.name) + 1, np.iinfo(np.int64).min)
        file, begin = cells.file[upper], cells.columns.begin[upper]
        first[file] = np.iinfo(np.int64).max
        np.minimum.at(first, file, begin)
        early = cells.early(cells.layer_row(name)) & (cells.columns.begin < first[cells.file])
        fills = early & flow.parts["hidden"]
        if cells.bytes(fills):
            return flow, fills, early
    return None


def fill_values(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find variables that a format library fills before they are written."""
    found = fill_writes(evidence)
    if found is None:
        return
    flow, fills, _ = found
    filled = evidence.cells.bytes(fills)
    if filled < rule.thresholds["bytes"] or filled < rule.thresholds["share"] * flow.upper_bytes:
        return
    where = evidence.where(fills)
    start, end = where["time_range_s"]
    first = evidence.cells.extent(flow.parts["upper"])[0]
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
            "fill_operations": evidence.cells.operations(fills),
            "program_bytes": flow.upper_bytes,
            "share_of_program_bytes": filled / flow.upper_bytes if flow.upper_bytes else None,
            "first_program_write_s": first,
            "bytes_written_twice": again,
            **where,
        },
        cells=fills,
    )


def data_sieving(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find reads inside writes of the layer above."""
    for flow in evidence.adjacent("write"):
        read = flow.against_bytes
        if read < rule.thresholds["bytes"]:
            continue
        where = evidence.where(flow.parts["against"])
        share = read / flow.lower_bytes if flow.lower_bytes else None
        extra = flow.lower_bytes - flow.upper_bytes
        more = f" and {bytes_text(extra)} more written than {flow.upper} asked for" if extra > 0 else ""
        yield Match(
            flow.upper,
            f"{flow.upper} writes made {flow.lower} read {bytes_text(read)} in {flow.against_operations:,} operations"
            f" by {named_ranks(where['ranks'])}{more}: blocks are read, changed and written back",
            {
                "upper": flow.upper,
                "lower": flow.lower,
                "read_bytes": read,
                "read_operations": flow.against_operations,
                "extra_written_bytes": extra,
                "share_of_written": share,
                **where,
            },
            "warning" if share is None or share >= rule.thresholds["severe_share"] else "info",
            flow.parts["against"],
        )


def read_back(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find processes that read their own writes, in layers whose offsets count from the start of the file."""
    for row, layer in enumerate(evidence.cells.layers):
        back = evidence.sums.read_back[row].bytes if row in evidence.sums.read_back else 0
        reads = evidence.cells.of(layer, "read")
        read = evidence.cells.bytes(reads)
        if back < rule.thresholds["bytes"] or back < rule.thresholds["share"] * read:
            continue
        written = evidence.cells.bytes(evidence.cells.of(layer, "write"))
        times = back / written if written else 0.0
        often = f", {times:.2g} times what is written" if times >= rule.thresholds["often"] else ""
        cost = min(1.0, back / read) * float(evidence.rank_seconds(reads).max(initial=0.0))
        severe = often and cost >= rule.thresholds["severe_share"] * evidence.run_s
        yield Match(
            layer,
            f"{layer}: processes read {bytes_text(back)} that they had written themselves, "
            f"{percent_text(back / read)} of all that is read{often}",
            {
                "read_back_bytes": back,
                "read_bytes": read,
                "written_bytes": written,
                "share": back / read,
                **evidence.where(reads),
            },
            severity="warning" if severe else None,
            cells=reads,
            cost_s=cost,
        )


def missing_lower_layer(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers of parallel libraries whose bytes are recorded nowhere below.

    That is the recording and not the run, which it costs nothing.
    """
    cells = evidence.cells
    descends_with_operations = np.zeros(len(cells.layers), np.bool_)
    above = np.unique(cells.at_handles(cells.stack.higher))
    while len(above := above[above >= 0]):
        descends_with_operations[cells.stack.layer[above]] = True
        above = np.unique(cells.stack.higher[above])
    for row, layer in enumerate(cells.layers):
        if layer not in evidence.parallel or descends_with_operations[row]:
            continue
        of_layer = cells.of(layer, "total")
        moved, count = cells.bytes(of_layer), cells.operations(of_layer)
        if moved < rule.thresholds["bytes"]:
            continue
        lower = [name for name in cells.layers[row + 1 :] if cells.of(name, "total").any()]
        others = f"; {' and '.join(lower)} hold the program's own calls only" if lower else ""
        yield Match(
            layer,
            f"{layer} moved {bytes_text(moved)}, but no operation of a layer below was recorded for "
            f"it{others}: {layer} "
            "must reach the storage by calls that were not wrapped",
            {"bytes": moved, "operations": count, "recorded_lower_layers": lower, **evidence.where(of_layer)},
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
    found = fill_writes(evidence)
    if found is None:
        return 0
    cells = evidence.cells
    return cells.bytes(found[2] & cells.of(layer, "write") & (cells.attribution.parent < 0))
