"""What `info` counts, against what otf2-print or the official reader tell."""

from collections import Counter
from pathlib import Path

import otf2
from iostrata.model.stream.summary import summarise
from iostrata.otf2io.source import open_source

FIXTURES = Path(__file__).parents[3] / "fixtures"


def test_file_systems_have_their_mount_points():
    found = summarise(open_source(FIXTURES / "ncckpt4")).files_per_system
    with otf2.reader.open(str(FIXTURES / "ncckpt4" / "traces.otf2")) as trace:
        properties = {}
        for entry in trace.definitions.io_file_properties:
            properties.setdefault(entry.io_file._ref, {})[entry.name] = entry.value
    expected = Counter((entry["File system"], entry["Mount Point"]) for entry in properties.values())
    assert {(system, mount): count for system, mount, count in found} == expected
    assert expected["sysfs", "/sys"] > 100
