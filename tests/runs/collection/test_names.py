"""Runs of equal names are told apart by as much of their paths as that takes."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from iostrata.runs.collection.names import distinct_names


def names(*keys: str, called: str = "run") -> list[str]:
    return list(distinct_names(dict.fromkeys(keys, called)).values())


def test_the_shortest_end_of_the_path_that_differs():
    assert names("/s/a/run/traces.otf2") == ["run"]
    assert names("/s/a/run/traces.otf2", "/s/b/run/traces.otf2") == ["a/run", "b/run"]
    assert names("/s/1/x/run/traces.otf2", "/s/2/x/run/traces.otf2") == ["1/x/run", "2/x/run"]
    assert names("/s/run.darshan", "/s/run.pfw") == ["s/run.darshan", "s/run.pfw"]
    # Those that already differ stay as they are.
    assert names("/s/1/x/run/traces.otf2", "/s/2/x/run/traces.otf2", "/s/y/run/traces.otf2")[2] == "y/run"
    # Of which the whole path would be shown it is the key.
    assert names("/run/traces.otf2", "/a/run/traces.otf2") == ["/run/traces.otf2", "a/run"]


def test_a_folder_and_an_anchor_in_it_differ():
    assert len(set(names("/run", "/run/traces.otf2", "/a/run", "/a/run/traces.otf2"))) == 4


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), unique_by=tuple, min_size=1, max_size=12))
def test_no_two_names_are_equal_and_each_is_an_end_of_its_path(paths):
    keys = ["/" + "/".join(path) + "/traces.otf2" for path in paths]
    found = distinct_names({key: path[-1] for key, path in zip(keys, paths, strict=True)})
    assert max(Counter(found.values()).values()) == 1
    assert all(key.endswith(f"{name}/traces.otf2") or name == key for key, name in found.items())
