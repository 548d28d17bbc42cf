"""Recipes for centres: each names what there is, and the epilog does what it says."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from iostrata.cli.group import COMMANDS

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "docs" / "recipes"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [PROJECT["version"]]
    assert re.findall(r"^license: (.*)$", text, re.MULTILINE) == [PROJECT["license"]]


def test_the_package_of_spack_needs_what_the_project_needs():
    text = (RECIPES / "spack" / "py-iostrata" / "package.py").read_text()
    named = set(re.findall(r'depends_on\("py-([\w-]+)@', text)) - {"setuptools"}
    extras = {one for extra in ("parquet", "plot") for one in PROJECT["optional-dependencies"][extra]}
    needed = {re.split("[<>=]", one)[0] for one in [*PROJECT["dependencies"], *extras]}
    assert named == needed - {"otf2"}
    for name in named:
        (least,) = re.findall(rf'"py-{name}@([\d.]+):', text)
        assert any(one.startswith(f"{name}>={least}") for one in [*PROJECT["dependencies"], *extras]), name


@pytest.mark.parametrize("name", ["iostrata.def", "slurm-epilog.sh", "ci/io-regression.yml"])
def test_recipes_call_commands_that_there_are(name):
    text = (RECIPES / name).read_text()
    called = set(re.findall(r"^[^#\n]*\biostrata (\w+)", text, re.MULTILINE))
    assert called
    assert called <= set(COMMANDS.names) | {"image"}
    extras = set(",".join(re.findall(r"whl\)\[([\w,]+)\]", text)).split(",")) - {""}
    assert extras <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("ended", [0, 1])
def test_the_epilog_collects_and_never_fails(tmp_path, ended):
    told = tmp_path / "bin" / "iostrata"
    told.parent.mkdir()
    told.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nexit {ended}\n')
    told.chmod(0o755)
    places = {"IOSTRATA_TRACES": f"{tmp_path}/traces", "IOSTRATA_RUNS": f"{tmp_path}/runs"}
    environment = {"PATH": f"{told.parent}:{os.environ['PATH']}", "SLURM_JOB_ID": "7", **places}

    def run():
        command = ["sh", RECIPES / "slurm-epilog.sh"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    run()
    assert not (tmp_path / "called").exists()
    (tmp_path / "traces" / "7").mkdir(parents=True)
    run()
    called = (tmp_path / "called").read_text()
    assert called == f"collect {tmp_path}/traces/7 -o {tmp_path}/runs --workers 1 --json\n"
