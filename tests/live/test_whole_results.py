"""Replays of recordings in whole, as stored."""

import pytest


@pytest.mark.parametrize("name", ["ckpt4", "ckpt4_jitter", "late4", "ncckpt4", "mixed4"])
@pytest.mark.parametrize("options", [[], ["--method", "ftio"], ["--layer", "POSIX"]])
def test_updates_are_those_stored(held, printed, fixtures, name, options):
    updates = printed("watch", "--replay", fixtures / name, "--interval", "0.8", "--json", *options)
    title = f"{name}_{options[-1]}" if options else name
    held(title, {"updates": updates, "last": updates[-1]}, skipped=("version", "created"))


@pytest.mark.parametrize("name", ["ckpt4", "mixed4"])
def test_lines_are_those_stored(held, printed, fixtures, name):
    held(f"text_{name}", printed("watch", "--replay", fixtures / name, "--interval", "2"))
