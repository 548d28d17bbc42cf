"""What is opened all the time: files, or objects in files of a library with a format."""

import pytest
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.findings import find
from otf2.enums import IoOperationMode, IoParadigmClass, IoParadigmFlag, RegionRole


@pytest.mark.parametrize("objects", [True, False])
def test_objects_in_files_are_told_from_files(written, objects):
    hdf5 = written.trace.definitions.io_paradigm("HDF5", "HDF5", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
    file = written.file("/s/a.h5")
    above = written.handle(file, hdf5)
    opened = written.handle(file, hdf5, above) if objects else above
    written.call(0, "H5Fcreate", 0, 900)
    written.create(0, above, 500)
    for place in range(1200):
        begin = 1000 * (place + 1)
        written.call(0, "H5Dcreate", begin, begin + 500)
        written.create(0, opened, begin + 250)
        written.operate(0, opened, IoOperationMode.WRITE, begin + 510, begin + 600, 64)
        written.call(0, "H5Dclose", begin + 610, begin + 900)
        written.destroy(0, opened, begin + 700)
    trace = written.closed()
    findings = find(trace)
    one = next(one for one in findings if one.id == "metadata-storm")
    assert ("1,200 of them opens of objects in a file" in one.text) is objects
    assert ("large ones" in one.advice, "Keep files open" in one.advice) == (objects, not objects)
    text = headline_of(trace, findings).text
    things, fewer = ("objects in files", "fewer and larger ones") if objects else ("files", "opening each once")
    assert f"since {things} are opened, closed or deleted all the time; {fewer} could save" in text


@pytest.mark.parametrize("once", [True, False])
def test_where_each_file_is_opened_once_fewer_files_are_the_advice(written, once):
    files = [written.handle(written.file(f"/s/{number}"), written.posix) for number in range(1200 if once else 400)]
    for place in range(1200):
        begin, handle = 1000 * (place + 1), files[place % len(files)]
        for name, at, deed in (("open", begin, written.create), ("close", begin + 500, written.destroy)):
            written.call(0, name, at, at + 400)
            deed(0, handle, at + 200)
    trace = written.closed()
    findings = find(trace)
    one = next(one for one in findings if one.id == "metadata-storm")
    assert ("fewer files help" in one.advice, "Keep files open" in one.advice) == (once, not once)
    fewer = "fewer and larger ones" if once else "opening each once"
    assert (
        f"since files are opened, closed or deleted all the time; {fewer} could save"
        in headline_of(trace, findings).text
    )


@pytest.mark.parametrize("took", [2_000, 100])
def test_seeks_that_take_longer_than_reads_are_found(written, took):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(1000):
        begin = 10_000 * place
        written.call(0, "lseek", begin, begin + took)
        written.seek(0, handle, begin + took // 2)
        written.call(0, "read", begin + 3_000, begin + 3_500)
        written.operate(0, handle, IoOperationMode.READ, begin + 3_000, begin + 3_500, 4096)
    trace = written.closed()
    findings = find(trace)
    found = [one for one in findings if one.id == "seeks"]
    assert bool(found) is (took == 2_000)
    if found:
        assert (found[0].cost_s, found[0].gain_s) == (pytest.approx(2.0), (0.0, pytest.approx(2.0)))
        assert "1,000 POSIX seeks take a rank up to 2 s, 1,000 transfers 500 ms" in found[0].text
        assert "since seeks take long; going through files in order could save" in headline_of(trace, findings).text


@pytest.mark.parametrize("function", ["fcntl", "flock", "ioctl"])
def test_waiting_for_locks_is_found_and_heads_a_run_that_waits_longer_than_it_is_in_io(written, function):
    handle = written.handle(written.file("/s/a"), written.posix)
    definitions = written.trace.definitions
    written.regions[function] = definitions.region(function, source_file="POSIX_IO", region_role=RegionRole.FILE_IO)
    for place in range(20):
        for rank in range(4):
            begin = 1_000_000 * place
            written.call(rank, function, begin, begin + 100_000 * (rank + 1))
            written.call(rank, "write", begin + 500_000, begin + 510_000)
            written.operate(rank, handle, IoOperationMode.WRITE, begin + 500_000, begin + 510_000, 2**18)
    trace = written.closed()
    findings = find(trace)
    found = [one for one in findings if one.id == "lock-waiting"]
    headline = headline_of(trace, findings)
    assert bool(found) is (function != "ioctl")
    assert (headline.finding == "lock-waiting") is bool(found)
    if found:
        (one,) = found
        assert (one.cost_s, one.evidence["lock_calls"], one.severity) == (pytest.approx(8.0), 80, "critical")
        assert f"80 calls of {function} take a rank up to 8 s" in one.text
        assert "waiting for locks of files takes 41 % more (8 s); own parts of the file without" in headline.text
        assert headline.gain_s == one.gain_s
