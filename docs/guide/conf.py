"""Sphinx configuration of the user guide."""

from importlib.metadata import version as installed_version
from pathlib import Path

from click.testing import CliRunner
from iostrata.analysis.registry import PeriodMethod, methods, period_method
from iostrata.cli.group import COMMANDS
from iostrata.cli.group import iostrata as group
from iostrata.layers.summary.statistics import LayerStatistics
from iostrata.model.metrics import Metric, metrics_of

project = "iostrata"
author = "The iostrata developers"
copyright = "The iostrata developers"
version = release = installed_version("iostrata")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["generated", "examples"]
html_theme = "alabaster"
html_theme_options = {
    "description": "What each I/O layer did in an OTF2 trace",
    "page_width": "1100px",
    "body_max_width": "800px",
    "fixed_sidebar": True,
}
html_static_path = ["static"]
html_css_files = ["phone.css"]
html_show_sourcelink = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
# Columns of tables are called what attributes of several classes are.
suppress_warnings = ["ref.python"]

# The help of each command stands in the guide as the program prints it.
generated = Path(__file__).parent / "generated"
generated.mkdir(exist_ok=True)
for name in COMMANDS.names:
    shown = CliRunner().invoke(group, [name, "--help"], prog_name="iostrata", terminal_width=80)
    (generated / f"{name}.txt").write_text(shown.output, encoding="utf-8")


def method_text(method: PeriodMethod) -> str:
    """Return what a method declares, as it begins its section in the guide."""
    options = (
        f"``{option.name}`` ({method.defaults[option.name]!r}): {option.description}" for option in method.options
    )
    return "\n\n".join([method.description, f"*Limits:* {method.limits}", "Options:", *(f"- {one}" for one in options)])


for name in methods():
    (generated / f"method-{name}.txt").write_text(method_text(period_method(name)), encoding="utf-8")


def entry(one: Metric) -> str:
    """Return a metric as an entry of the glossary: its heading, its name in documents, its unit and what it is."""
    unit = "" if one.unit == "1" else f", in {one.unit.replace(' s-1', '/s')}"
    return f"   {one.title}\n      (``{one.key}``{unit}) {one.sentence}\n"


# The glossary says what the columns of tables are in the words of their declarations.
columns = "\n".join(map(entry, metrics_of(LayerStatistics)))
(generated / "metrics.rst").write_text(f".. glossary::\n\n{columns}", encoding="utf-8")
