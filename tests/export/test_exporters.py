"""Exporters are entry points, each described, documented and true about its options."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from iostrata.cli.group import iostrata as group
from iostrata.export.exporters import EXPORTERS, OPTIONS, known_suffixes, suffix_of

ROOT = Path(__file__).parents[2]


def test_the_suffixes_are_these():
    assert set(known_suffixes()) >= {".h5", ".nc", ".parquet", ".perfetto.json", ".otf2", ".ftio.jsonl"}


@pytest.mark.parametrize("name", EXPORTERS.names)
def test_every_exporter_is_described_and_documented(name):
    exporter = EXPORTERS.find(name)
    assert len(EXPORTERS.summaries[name].split()) > 5
    assert f"``.{name}``" in (ROOT / "docs" / "guide" / f"{exporter.page}.rst").read_text()
    assert set(exporter.options) <= set(OPTIONS)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.h5", ".h5"), ("a.b.OTF2", ".otf2"), ("x.perfetto.json", ".perfetto.json"), ("x.json", None), ("h5", None)],
)
def test_the_suffix_decides(name, suffix):
    assert suffix_of(Path("folder") / name) == suffix


@pytest.mark.parametrize(
    ("suffix", "option", "takers"),
    [
        (".parquet", ["--method", "ftio"], ".h5"),
        (".h5", ["--direction", "read"], ".ftio.jsonl"),
        (".perfetto.json", ["--filter", "low:1"], ".h5"),
        (".ftio.jsonl", ["--rewrite"], ".otf2"),
    ],
)
def test_an_option_that_means_nothing_is_refused(fixtures, tmp_path, suffix, option, takers):
    out = tmp_path / f"x{suffix}"
    done = CliRunner().invoke(group, ["convert", str(fixtures / "serial1"), str(out), *option])
    assert done.exit_code == 2
    assert f"{option[0]} is for " in done.output
    assert takers in done.output
    assert not out.exists()
