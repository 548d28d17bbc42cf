"""The method `auto` is to get smaller: its code lines and its constants have a ceiling, to be lowered."""

import ast
import io
import tokenize
from pathlib import Path

ANALYSIS = Path(__file__).parents[3] / "analysis"
FILES = (*sorted((ANALYSIS / "phases").glob("*.py")), ANALYSIS / "methods" / "auto.py")
MOST_LINES, MOST_CONSTANTS = 1002, 43
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """Return the number of lines with code: docstrings, comments and empty lines are none."""
    text = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            text |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - text)


def constants(source: str) -> int:
    """Return how many numbers the names of a module are given; names of integers from 0 on are no constants."""
    found = 0
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            values = [one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)]
            numbers = [value for value in values if isinstance(value, int | float)]
            found += 0 if numbers == list(range(len(numbers))) else len(numbers)
    return found


def test_lines_and_constants_are_counted() -> None:
    source = 'A, B = 3, 0.5\n"""Of both."""\nFREE, STEADY = 0, 1\n\ndef f() -> int:\n    # Why.\n    return A\n'
    assert (code_lines(source), constants(source)) == (4, 2)


def test_auto_is_no_larger_than_it_was() -> None:
    sources = [path.read_text() for path in FILES]
    assert len(FILES) > 10
    assert sum(map(code_lines, sources)) <= MOST_LINES
    assert sum(map(constants, sources)) <= MOST_CONSTANTS
