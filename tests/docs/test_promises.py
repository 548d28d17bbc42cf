"""Each promise of the guide names the test that holds it, and that test is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_promise_has_a_test_that_there_is() -> None:
    page = (ROOT / "docs" / "guide" / "promises.rst").read_text()
    promises = [part.split("\n\n")[0] for part in re.split(r"^- ", page, flags=re.MULTILINE)[1:]]
    assert len(promises) > 15
    for promise in promises:
        tests = re.findall(r"``(tests/[\w/]+\.py)(?:::(\w+))?``", promise)
        assert tests, promise
        for path, name in tests:
            text = (ROOT / path).read_text()
            assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), name
