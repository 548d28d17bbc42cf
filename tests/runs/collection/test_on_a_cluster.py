"""Traces collected by a cluster of two worker processes, in the rows that this process reads."""

import shutil
from pathlib import Path

import pytest
from iostrata.cli import main
from iostrata.runs import Collection

pytest.importorskip("pyarrow")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_cluster_gives_the_same_rows_and_goes_on(fixtures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    traces = tmp_path / "traces"
    for number in range(10):
        shutil.copytree(fixtures / ("serial1", "ckpt4_linktime")[number % 2], traces / f"run{number:02d}")
    (traces / "run07" / "traces.def").unlink()
    here, there = tmp_path / "here", tmp_path / "there"
    assert main(["collect", str(traces), "-o", str(here), "--segment", "1", "--workers", "1"]) == 0
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        command = ["collect", str(traces), "-o", str(there), "--segment", "1", "--dask", cluster.scheduler_address]
        assert main(command) == 0
        assert "9 traces read, 1 that cannot be used" in capsys.readouterr().out
        assert Collection(there).runs() == Collection(here).runs()
        assert main(command) == 0
        assert "9 unchanged" in capsys.readouterr().out
    assert len(Collection(there).jobs) == 10
