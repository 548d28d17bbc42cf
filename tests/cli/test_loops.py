"""``iostrata loops``: what the program does, on one screen, and the slowest iteration."""

import pytest


def test_the_tree(run, fixtures):
    text = run("loops", fixtures / "ckpt4").stdout
    assert "20 × (open" in text
    assert "write 2 MiB" in text
    assert "80 × (write 59 B" in text
    assert "like a clock" in text


def test_the_iterations(run, fixtures):
    text = run("loops", fixtures / "ncckpt4", "--iterations").stdout
    assert "netCDF bytes" in text
    assert len([line for line in text.splitlines() if line.startswith(tuple("0123456789 *"))]) >= 100


@pytest.mark.parametrize("archive", ["ckpt4", "aperiodic4"])
def test_the_document(document, fixtures, archive):
    found = document("loops", fixtures / archive)
    assert list(found)[:2] == ["schema_version", "trace"]
    assert isinstance(found["loops"], list)


def test_nothing_repeats(run, fixtures):
    assert "repeats" in run("loops", fixtures / "aperiodic4").stdout
