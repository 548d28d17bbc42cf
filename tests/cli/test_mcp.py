"""`iostrata mcp`: asked by the SDK's own client over standard input and output."""

import json
import os
from pathlib import Path

import anyio
import pytest
from iostrata.cli.answers import MOST_TEXT, AllowedFolders, shortened
from iostrata.model.errors import SelectionError
from mcp import Client, StdioServerParameters

FIXTURES = Path(__file__).parents[2] / "fixtures"
NETCDF, PLAIN = str(FIXTURES / "ncckpt4"), str(FIXTURES / "ckpt4")


def asked(command_path, folders, *questions):
    """Ask a server for folders some questions, and return what it says to each, or its error."""
    arguments = ["mcp", *(part for folder in folders for part in ("--folder", str(folder)))]
    server = StdioServerParameters(command=command_path, args=arguments, env=dict(os.environ))

    async def talk():
        async with Client(server) as client:
            names = [one.name for one in (await client.list_tools()).tools]
            return names, [await client.call_tool(name, given) for name, given in questions]

    return anyio.run(talk)


def content(result):
    text = result.content[0].text
    return text if result.is_error else json.loads(text)


@pytest.fixture(scope="module")
def answers(command_path):
    """Return what a server says to one question each."""
    questions = {
        "overview": {"trace": NETCDF},
        "layers": {"trace": NETCDF, "layer": "POSIX", "direction": "write"},
        "loops": {"trace": NETCDF},
        "periods": {"trace": NETCDF, "layer": "MPI-IO", "direction": "write"},
        "compare": {"trace": NETCDF},
        "findings": {"trace": NETCDF},
        "diff": {"before": PLAIN, "after": NETCDF},
        "traces": {"folder": NETCDF},
    }
    names, found = asked(command_path, [FIXTURES], *questions.items())
    assert {*questions, "jobs"} == set(names)
    return dict(zip(questions, map(content, found), strict=True))


@pytest.mark.parametrize(
    ("tool", "options"),
    [
        ("overview", []),
        ("layers", ["--layer=POSIX", "--direction=write"]),
        ("loops", []),
        ("periods", ["--layer=MPI-IO", "--direction=write"]),
        ("compare", []),
    ],
)
def test_answers_are_the_numbers_of_the_command_line(answers, document, tool, options):
    found = answers[tool]
    assert found["command"] == f"iostrata {tool} {NETCDF} {' '.join([*options, '--json'])}".replace("  ", " ")
    expected = document(tool, NETCDF, *options)
    if found["cut"]:
        assert len(json.dumps(found["document"])) <= MOST_TEXT < len(json.dumps(expected))
        expected, _ = shortened(expected)
    assert found["document"] == expected


def test_findings_come_with_evidence(answers):
    found = answers["findings"]["document"]
    (fill,) = [one for one in found["findings"] if one["id"] == "fill-values"]
    assert fill["evidence"]
    assert fill["advice"]
    assert answers["findings"]["command"] == f"iostrata overview {NETCDF} --json"


def test_two_runs_are_compared_and_traces_listed(answers):
    assert answers["diff"]["document"]["verdict"] == "changed"
    assert answers["traces"] == {"traces": [f"{NETCDF}/traces.otf2"], "more": False}


def test_what_cannot_be_answered_says_why(command_path, tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(FIXTURES / "serial1")
    (inside / "damaged").mkdir()
    (inside / "damaged" / "traces.otf2").write_bytes(b"\0" * 100)
    rows = ["layer,rank,mode,start,end,bytes,file", *(f"POSIX,0,write,{i},{i}.5,10,f{i}" for i in range(3000))]
    (inside / "many.csv").write_text("\n".join(rows))
    questions = [
        ("overview", {"trace": NETCDF}),
        ("overview", {"trace": str(inside / "link")}),
        ("overview", {"trace": f"{inside}/../../etc/passwd"}),
        ("overview", {"trace": str(inside / "damaged")}),
        ("overview", {"trace": str(inside / "nothing")}),
        ("layers", {"trace": str(inside / "many.csv"), "layer": "--help"}),
        ("layers", {"trace": str(inside / "many.csv"), "by": "file"}),
    ]
    _, found = asked(command_path, [inside], *questions)
    outside, link, above, damaged, nothing, layer, many = map(content, found)
    assert [one.is_error for one in found] == [True] * 6 + [False]
    for text in (outside, link, above):
        assert "outside of the folders that may be read" in text
    assert "traces.otf2" in damaged
    assert f"no such file or folder: {inside}/nothing" in nothing
    assert "--help" in layer
    assert len(json.dumps(many["document"])) <= MOST_TEXT
    assert many["cut"]["breakdown.rows[]"] == 3000


def test_links_within_an_input_lead_nowhere_else(tmp_path):
    inside, other = tmp_path / "inside", tmp_path / "other"
    (inside / "trace").mkdir(parents=True)
    other.mkdir()
    (other / "secret.evt").write_text("")
    allowed = AllowedFolders.of([inside])
    assert allowed.checked(str(inside / "trace")) == inside / "trace"
    (inside / "trace" / "0.evt").symlink_to(inside / "elsewhere.evt")
    assert allowed.checked(str(inside / "trace")) == inside / "trace"
    (inside / "trace" / "2.evt").symlink_to("2.evt")
    assert allowed.checked(str(inside / "trace")) == inside / "trace"
    (inside / "out").symlink_to(other)
    for circle in ("trace/2.evt", "trace/2.evt/../../out"):
        with pytest.raises(SelectionError, match="no such file or folder"):
            allowed.checked(str(inside / circle))
    (inside / "trace" / "1.evt").symlink_to(other / "secret.evt")
    with pytest.raises(SelectionError, match=r"1\.evt, a link, is outside"):
        allowed.checked(str(inside / "trace"))
    (inside / "trace" / "1.evt").unlink()
    (inside / "trace" / "sub").symlink_to(other)
    (inside / "trace" / "a.otf2").write_text("")
    for path in (inside / "trace", inside / "trace" / "a.otf2"):
        with pytest.raises(SelectionError, match="sub, a link, is outside"):
            allowed.checked(str(path))


@pytest.mark.parametrize("document", [{}, {"a": list(range(100_000))}, {"a": {str(i): i for i in range(99_999)}}])
def test_answers_are_short_and_say_what_is_left_out(document):
    kept, cut = shortened(document)
    assert len(json.dumps(kept)) <= MOST_TEXT
    assert cut == {("a[]" if isinstance(value, list) else "a"): len(value) for value in document.values()}


def test_a_long_text_does_not_get_through():
    kept, _ = shortened({"a": ["x" * 10_000_000] * 50})
    assert len(json.dumps(kept)) <= MOST_TEXT


def test_without_a_folder_it_is_wrong_usage(run, tmp_path):
    assert run("mcp").returncode == 2
    done = run("mcp", "--folder", tmp_path / "nothing")
    assert (done.returncode, "is no folder" in done.stderr) == (2, True)
