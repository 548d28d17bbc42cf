"""Advice names no library that a trace does not show, and stays a sentence."""

import re
from types import SimpleNamespace

import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find, rules
from iostrata.analysis.findings.advice import advice_for, shown_in

EVERY = (
    "netCDF",
    "HDF5",
    "PnetCDF",
    "ADIOS",
    "MPI-IO",
    "ISOC",
    "POSIX",
    "ROMIO",
    "OMPIO",
    "Lustre",
    "database",
    "ranks",
)
KNOBS = {
    "HDF5": r"\bH5[A-Z]",
    "netCDF": r"\b(nc_|NC_)",
    "MPI-IO": r"\b(MPI_File_|romio_|cb_nodes|OMPI_MCA|striping_factor)|collectively",
    "ROMIO": r"romio_|ROMIO|ind_wr",
    "OMPIO": r"OMPI",
    "ISOC": "setvbuf",
    "Lustre": r"lfs |Lustre",
    "database": r"transaction",
    "ranks": r"\branks?\b|MPI_Bcast",
}
SHOWN = [("POSIX",), ("MPI-IO", "POSIX", "ROMIO"), ("MPI-IO", "POSIX", "OMPIO"), ("HDF5", "POSIX", "Lustre"), EVERY]


@pytest.mark.parametrize("shown", SHOWN, ids="+".join)
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_advice_is_for_what_is_there(rule, shown):
    told = advice_for(rule.advice, shown)
    assert "Reads:" not in advice_for(rule.advice, shown, "write")
    assert told == rule.advice or shown != EVERY
    assert told.endswith(".") or told == rule.advice
    assert told.count("(") == told.count(")")
    assert not re.search(r"[,;:] ?[.;]|: or |  ", told)
    if told != rule.advice:
        for library, pattern in KNOBS.items():
            assert library in shown or not re.search(pattern, told)


@pytest.mark.parametrize(
    ("files", "file_system", "libraries"),
    [
        (["/tmp/ompi.n1.0/pid.7/1/out_cid-3-7.sm"], "ext4", {"OMPIO"}),
        (["/tmp/ompi.n1.0/pid.7/pmix"], "ext4", {"OMPIO", "ROMIO"}),
        (["/sw/spectrum_mpi/mca_io_romio321.so"], "gpfs", {"OMPIO", "ROMIO"}),
        (["/scratch/out"], "lustre", {"ROMIO", "Lustre"}),
        *(
            (["/scratch/out", f"/data/{name}"], "ext4", {"ROMIO", "database"})
            for name in ("t.db-wal", "pg_wal/0001", "7/MANIFEST-000012")
        ),
        (["/scratch/run-journal.txt", "/scratch/wal", "/scratch/000012.log"], "ext4", {"ROMIO"}),
    ],
)
def test_files_show_the_mpi_library_and_the_file_system(files, file_system, libraries):
    properties = [{"File system": file_system} for _ in files]
    definitions = SimpleNamespace(files=SimpleNamespace(name=files, properties=properties))
    assert shown_in(definitions, ("MPI-IO", "POSIX")) == {"MPI-IO", "POSIX"} | libraries


def test_knobs_of_another_mpi_library_or_file_system_are_not_named(fixtures):
    one = next(one for one in find(open_trace(fixtures / "ckpt4")) if one.id == "funnelled-collective")
    assert one.advice.startswith("More aggregators: OMPI_MCA_io_ompio_num_aggregators of OMPIO.")
    assert not any(re.search(r"ROMIO|lfs|Lustre", one.advice) for one in find(open_trace(fixtures / "ckpt4")))


def test_a_run_of_mpi_io_gets_no_hints_for_hdf5(fixtures):
    every = find(open_trace(fixtures / "ckpt4"))
    assert every
    assert not any("H5" in one.advice or "nc_" in one.advice for one in every)


def test_one_process_gets_no_advice_for_ranks(tmp_path):
    """It reads a file three times over, by small pieces here and there, and flushes after each."""
    rows = ["layer,rank,mode,start,end,bytes,file,offset"]
    for place in range(600):
        at = 0.01 * place
        rows += [f"POSIX,0,read,{at},{at + 0.004},8192,/s/a,{8192 * (7 * place % 200)}"]
        rows += [f"POSIX,0,write,{at + 0.005},{at + 0.0055},4096,/s/b,{4096 * place}"]
        rows += [f"POSIX,0,flush,{at + 0.006},{at + 0.009},0,/s/b,"]
    path = tmp_path / "run.csv"
    path.write_text("\n".join(rows))
    every = {one.id: one.advice for one in find(open_trace(path))}
    assert every["redundant-reads"] == "Read once and keep it in memory."
    assert not [advice for advice in every.values() if re.search(r"\branks?\b|MPI_", advice)]


def test_a_buffer_of_iso_c_is_for_calls_of_iso_c_and_what_they_cause(tmp_path):
    def small(calls: str, *layers: tuple[str, str]) -> list[str]:
        rows = ["layer,rank,start,end,bytes,mode,file"]
        for place in range(400):
            rows += [f"{calls},0,{place},{place + 0.9},100,write,/s/a"]
            rows += [f"{layer},0,{place + 0.1},{place + 0.8},100,write,{file}" for layer, file in layers]
        path = tmp_path / "table.csv"
        path.write_text("\n".join(rows) + "\n")
        found = find(open_trace(path))
        assert any(one.id == "small-requests" for one in found)
        return [one.layer for one in found if one.id == "small-requests" and "setvbuf" in one.advice]

    assert small("POSIX") == []
    assert small("ISOC") == ["ISOC"]
    assert "POSIX" not in small("POSIX", ("ISOC", "/s/b"))
