"""Tables of real recordings."""

from typing import Any

from .shares import Rows, percent, share, table


def _yes(value: Any) -> str:
    return "–" if value is None else "yes" if value else "**no**"


def recordings_summary(rows: Rows) -> str:
    """Return the scores over all recordings beside their targets."""
    made = [row for row in rows if row["kind"] == "recording"]
    logs = [row for row in rows if row["kind"] == "darshan"]
    flows = [row for row in rows if row["kind"] == "comparison"]
    lines = []
    for what, chosen, score, target in (
        ("stated periods within 1 %, %", made, "right", "100"),
        (
            "the same, of the mean interval of the regime's own phases, %",
            made,
            "right of its phases",
            "–",
        ),
        ("regimes of six or more phases found, %", made, "regime found", "100"),
        ("IOR: number of phases right, %", made, "count right", "100"),
        ("IOR: bytes of every repetition within 2 %, %", made, "bytes right", "100"),
        ("phase starts within 0.1 period, mean F1 in %", made, "f1", "≥ 99"),
        ("comparison of layers: verdict right, %", flows, "right", "100"),
        ("comparison: unchanged without one phase or with 1 % noise, %", flows, "kept", "100"),
        ("Darshan: no period without four phases, %", logs, "right", "100"),
    ):
        count = sum(row.get(score) is not None for row in chosen)
        lines.append([what, target, percent(share(chosen, score)), str(count)])
    left_out = [f"- {row['what']}" for row in rows if row["kind"] == "missing"]
    return table(["what", "target", "ours", "signals"], lines) + ("\n\n" + "\n".join(left_out) if left_out else "")


def recordings_table(rows: Rows) -> str:
    """Return one line a recorded signal."""
    lines = []
    for row in rows:
        if row["kind"] in ("missing", "comparison"):
            continue
        expected = ", ".join(f"{period:.6g}" for period in row.get("expected", [])) or (
            "none" if row["kind"] == "recording" else "not known"
        )
        stated = "none" if row["stated"] is None else f"{row['stated']:.6g} at {row['confidence']:.2f}"
        phases = str(row["phases"]) + (f" of {row['expected phases']}" if row.get("expected phases") else "")
        f1 = "–" if row.get("f1") is None else f"{row['f1']:.3f}"
        cells = [_yes(row.get(name)) for name in ("right", "regime found", "bytes right")]
        lines.append([row["recording"], row["signal"], expected, stated, cells[0], cells[1], phases, cells[2], f1])
    head = ["recording", "signal", "expected, s", "stated, s", "right", "regime found", "phases", "bytes right", "F1"]
    return table(head, lines)


def starts_table(rows: Rows) -> str:
    """Return one line for each signal whose period is not the mean of all its intervals, with what its starts tell."""
    lines = [
        [
            row["recording"],
            row["signal"],
            f"{row['expected'][0]:.6g}",
            "none" if row["stated"] is None else f"{row['stated']:.6g}",
            "none" if row["told of starts"] is None else f"{row['told of starts']:.6g}",
            f"{row['jitter']:.2f}",
            f"{row['first']:.2f}",
            _yes(row.get("right of its phases")),
        ]
        for row in rows
        if row["kind"] == "recording" and "jitter" in row and not (row.get("right") and row.get("regime found"))
    ]
    head = [
        "recording",
        "signal",
        "mean of all, s",
        "stated, s",
        "told the true starts alone, s",
        "jitter of true starts",
    ]
    return table([*head, "first interval ÷ median", "right of its own phases"], lines)


def comparison_table(rows: Rows) -> str:
    """Return one line for each comparison of layers that is wrong or that a small change changes."""
    lines = [
        [
            row["recording"],
            row["flow"],
            row["verdict"],
            " or ".join(row["expected"]),
            _yes(row["right"]),
            ", ".join(row.get("after changes", [])),
        ]
        for row in rows
        if row["kind"] == "comparison" and not (row["right"] and row.get("kept", True))
    ]
    return table(["recording", "flow", "verdict", "expected", "right", "after the changes"], lines)
