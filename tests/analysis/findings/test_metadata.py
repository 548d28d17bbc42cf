"""What is opened all the time: files, or objects in files of a library with a format."""

import pytest
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.findings import find
from otf2.enums import IoOperationMode, IoParadigmClass, IoParadigmFlag


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
