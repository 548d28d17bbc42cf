"""What people see: plain and uncut in a pipe, within the width of a terminal, and unharmed by names out of a trace."""

import re

import pytest

SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*[39][0-7](?:;\d+)*m")
READERS = ["overview", "info", "layers", "handles", "periods"]
ARCHIVES = ["ckpt4", "ncckpt4", "ior384", "nonblocking4"]
HOSTILE_FILES = [b"\x1b[31m\nx", b"[bold]x", b"\r\x07\xc2\x9b1A\x00", b"\xff\xfe/../x", "a\u202e\u2028".encode()]


def unprintable(text):
    """Return the lines with anything in them that a terminal would act on."""
    return [line for line in text.split("\n") if not line.isprintable()]


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("command", READERS)
def test_a_pipe_gets_plain_text(run, fixtures, command, archive):
    done = run(command, fixtures / archive)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout
    assert all(line == line.rstrip(" ") for line in done.stdout.splitlines())


def test_a_pipe_gets_whole_names(run, copy_of):
    folder = copy_of("ncckpt4")
    deep = folder / ("d" * 200) / ("e" * 200)
    deep.mkdir(parents=True)
    for path in (folder / "traces.otf2", folder / "traces.def", folder / "traces"):
        path.rename(deep / path.name)
    assert str(deep) in run("layers", deep, COLUMNS="40").stdout.splitlines()[0]
    assert "/scratch/demo/run/ncckpt4/input.nc" in run("handles", deep, COLUMNS="40").stdout


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("command", READERS)
def test_a_terminal_is_not_overrun(run_on_terminal, fixtures, command, archive, columns):
    text = SEQUENCE.sub("", run_on_terminal(columns, command, fixtures / archive))
    assert text.strip()
    assert max(map(len, text.splitlines())) <= columns


RUNS = {
    "diff": ("ckpt4", "ckpt4_romio"),
    "assess": ("ckpt4", "ncckpt4", "ncckpt4_romio", "--segment", "1"),
    "signature": ("ckpt4", "ckpt4_linktime", "ckpt4_jitter"),
    "loops": ("ncckpt4", "--iterations"),
    "collect": ("ckpt4", "ncckpt4", "no-such-trace-that-has-a-long-name-in-a-folder-with-others", "-o", "runs"),
}
CUT = re.compile(r"\d[\d.,]*…(?! )")
"""A number that ends before its unit; the middle of a name may be left out, and a range has blanks."""


@pytest.mark.parametrize("command", RUNS)
def test_commands_on_runs_fit_60_columns_and_cut_no_number(run_on_terminal, fixtures, tmp_path, command):
    given = [fixtures / one if (fixtures / one).is_dir() else one for one in RUNS[command]]
    if command == "collect":
        (tmp_path / given[2]).mkdir()
        given[2:] = [tmp_path / given[2], "-o", tmp_path / given[4]]
    text = SEQUENCE.sub("", run_on_terminal(60, command, *given))
    # What is to be copied stands on one line.
    lines = [line for line in text.splitlines() if not line.startswith("Next: ")]
    assert max(map(len, lines)) <= 60
    assert not CUT.search(text)
    if command == "assess":
        # Columns go, but not the one that says which job it is.
        assert {"job", "score"} <= set(next(line for line in lines if "score " in line).split())
        assert "ncckpt4" in text


def test_runs_of_a_collection_have_names_and_not_the_ends_of_their_paths(run, run_on_terminal, fixtures, tmp_path):
    run("collect", fixtures / "ckpt4", fixtures / "ncckpt4", "-o", tmp_path / "runs")
    text = SEQUENCE.sub("", run_on_terminal(80, "assess", tmp_path / "runs", "--segment", "5"))
    assert re.search(r"^ *\d+  n?c?ckpt4 ", text, re.MULTILINE)


def test_a_wide_terminal_shows_more(run_process_on_terminal, run_on_terminal, fixtures):
    narrow, wide = (run_process_on_terminal(columns, "layers", fixtures / "ckpt4") for columns in (80, 200))
    assert (narrow, wide) == tuple(run_on_terminal(columns, "layers", fixtures / "ckpt4") for columns in (80, 200))
    narrow, wide = SEQUENCE.sub("", narrow), SEQUENCE.sub("", wide)
    assert "168 MB" in narrow
    assert "167,772,160 B" not in narrow
    assert "167,772,160 B" in wide


def test_every_number_survives_a_narrow_terminal(run_on_terminal, fixtures):
    text = SEQUENCE.sub("", run_on_terminal(80, "layers", fixtures / "ncckpt4"))
    table = [line for line in text.splitlines() if re.match(r"(\S+ +|\s+)(read|write) ", line)]
    assert len(table) == 9
    assert all(line.rstrip().endswith("%") for line in table)
    assert "…" not in "".join(table)


def test_colours_only_on_a_terminal_and_not_where_they_are_unwanted(run_process_on_terminal, fixtures):
    coloured = run_process_on_terminal(80, "periods", fixtures / "ior384")
    plain = run_process_on_terminal(80, "periods", fixtures / "ior384", NO_COLOR="1")
    assert COLOUR.search(coloured)
    assert not COLOUR.search(plain)
    assert SEQUENCE.sub("", coloured) == SEQUENCE.sub("", plain)


def test_an_encoding_without_braille(run_process, fixtures):
    done = run_process("periods", fixtures / "ior384", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "phases" in done.stdout
    assert "\\u" not in done.stdout


def patched(folder, old, new):
    """Replace a string in the definitions of the trace in `folder` by one of the same length."""
    definitions = folder / "traces.def"
    content = definitions.read_bytes()
    assert len(old) == len(new)
    assert content.count(old) == 1
    definitions.write_bytes(content.replace(old, new))
    return folder


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        *(("handles", b"run.log", name) for name in HOSTILE_FILES),
        ("info", b"ISOC", b"\x1b[2J"),
        ("overview", b"ISOC", b"\x1b[2J"),
        ("layers", b"ISOC", b"\x1b[2J"),
        ("periods", b"ISOC", b"\r\n\x07\x08"),
    ],
)
def test_names_out_of_a_trace_cannot_command_a_terminal(run, run_on_terminal, copy_of, command, old, new):
    folder = patched(copy_of("ckpt4_linktime"), old, new)
    usual = run(command, folder)
    assert usual.returncode == 0
    assert unprintable(usual.stdout + usual.stderr) == []
    text = run_on_terminal(80, command, folder, NO_COLOR="1")
    assert unprintable(re.sub(r"\x1b\[[0-2]?m", "", text)) == []
    assert run(command, folder, "--json").returncode == 0


@pytest.mark.parametrize("command", READERS)
def test_neither_can_the_path_of_a_trace(run, copy_of, command):
    folder = copy_of("ckpt4_linktime")
    hostile = folder.rename(folder.with_name("a\x1b[2J\nb [bold]c"))
    done = run(command, hostile)
    assert done.returncode == 0
    assert unprintable(done.stdout) == []
    assert "a\\x1b[2J\\nb [bold]c" in done.stdout


def test_the_name_itself_is_still_told(run, copy_of):
    folder = patched(copy_of("ckpt4_linktime"), b"run.log", b"[red]\x1bx")
    assert "/[red]\\x1bx" in run("handles", folder).stdout


@pytest.mark.parametrize("columns", [60, 80])
def test_layers_keep_their_names_on_a_narrow_terminal(run_on_terminal, document, fixtures, columns):
    text = SEQUENCE.sub("", run_on_terminal(columns, "layers", fixtures / "ncckpt4"))
    named = [line.split()[0] for line in text.splitlines() if re.match(r"\S+ +(read|write) ", line)]
    assert named == list(dict.fromkeys(entry["layer"] for entry in document("layers", fixtures / "ncckpt4")["layers"]))
    assert "…" not in text


def test_headings_of_info_are_whole_on_a_narrow_terminal(run_on_terminal, fixtures):
    lines = SEQUENCE.sub("", run_on_terminal(60, "info", fixtures / "ncckpt4")).splitlines()
    assert ["paradigm", "name", "class", "handles", "roots", "files", "properties"] in [line.split() for line in lines]
    assert "…" not in "".join(lines)


@pytest.mark.parametrize("command", [("layers", "--by", "file"), ("handles",), ("periods", "--by", "file")])
def test_a_pipe_gets_no_row_as_long_as_the_longest_name(run, tmp_path, command):
    rows = [f"POSIX,0,/a/{'x' * 5000 if row == 7 else row},{row},{row}.5,100,write" for row in range(300)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["layer,rank,file,start,end,bytes,mode", *rows]) + "\n")
    done = run(command[0], table, *command[1:])
    assert done.returncode == 0, done.stderr
    assert sum(len(line) > 1000 for line in done.stdout.splitlines()) <= 1
