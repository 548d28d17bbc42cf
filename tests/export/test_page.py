"""A page is the first of its documents that is not too large, and no browser has to read what only people need."""

import json
import re

import pytest
from iostrata.export.page.document import PageDocument
from iostrata.export.page.html import write_page

LONG = PageDocument("x" * 401, (), warnings=("kept",), cut={"rows": 7})
SHORT = PageDocument("b", ())


def contents(path):
    return json.loads(re.search(r'id="contents">(.*?)</script>', path.read_text())[1])


def test_of_several_documents_the_first_that_is_small_enough_is_written(tmp_path):
    path = tmp_path / "a.html"
    size = write_page([LONG, SHORT], path).bytes
    assert size == path.stat().st_size
    for most, cut in ((size, {"rows": 7}), (size - 1, SHORT.cut), (1, SHORT.cut), (0, {"rows": 7})):
        assert write_page([LONG, SHORT], path, most_bytes=most).cut == cut


@pytest.mark.parametrize(("title", "shown"), [("", "b"), ("c", "c")])
def test_the_window_is_called_by_its_title(tmp_path, title, shown):
    path = tmp_path / "a.html"
    write_page([SHORT], path, title)
    assert f"<title>{shown}</title>" in path.read_text()


def test_texts_of_more_than_400_characters_are_cut_and_the_code_has_no_comments(tmp_path):
    path = tmp_path / "a.html"
    for length in (400, 401):
        write_page([PageDocument("x" * length, ())], path)
        assert (contents(path)["title"] == "x" * length) == (length == 400)
    code = re.findall(r"<script>\n?(.*?)</script>", path.read_text(), re.DOTALL)
    assert code
    lines = "".join(code).splitlines()
    assert not [line for line in lines if not line or line != line.strip() or line.startswith("//")]
