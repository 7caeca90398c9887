"""Which strings a person may read, and what a change of code that is no change of text leaves alone."""

from __future__ import annotations

import textwrap

import pytest

from tests.catalogue.strings import Found, is_text, strings_of


def texts(source: str, *, every: bool = False) -> list[str]:
    return [found.text for found in strings_of(textwrap.dedent(source)) if found.is_read or every]


READ = (
    "Nothing differs.",
    " and ",
    "Cancel",
    "Read-ahead",
    "IOPS",
    "A/B",
    "none: ",
    "done.",
    "{} and {}",
    "{:.1f} s",
    "{:,.0f}MB/s",
    " · ",
    "%",
    "/c0/v1 is locked by {}.",
    "--pairs and --until exclude each other.",
    "[unknown]",
    "[keymap] in the configuration file",
)
UNREAD = (
    "",
    "  ",
    "{}",
    "{}: {}",
    "{:>8}",
    "read_ahead",
    "readahead",
    "ReadAhead",
    "/sys/block/{}/queue",
    "--json",
    "mdadm --detail --export",
    "-p smartctl -a",
    r"(\d+) of (\d+)",
    "^Virtual Drive",
    "#run-title",
    "\n    Lines {\n        height: auto;\n    }\n",
    "text-style: bold; color: $text-error 30%;",
)


@pytest.mark.parametrize("text", READ)
def test_what_a_person_may_read(text: str) -> None:
    assert is_text(text)


@pytest.mark.parametrize("text", UNREAD)
def test_what_nobody_reads(text: str) -> None:
    assert not is_text(text)


def test_names_of_variables_are_not_part_of_a_template() -> None:
    before = texts("say(f'{count!r:>{width}} of {len(runs):,} runs')")
    after = texts("say(f'{number!r:>{size}} of {sum(all_of_them):,} runs')")
    assert before == after == ["{!r:>{}} of {:,} runs"]


def test_another_format_is_another_text() -> None:
    assert texts("say(f'It took {seconds:.1f} s.')") != texts("say(f'It took {seconds:.2f} s.')")


def test_strings_in_a_template_count_for_themselves() -> None:
    assert texts("""say(f"{count} {'drive' if count == 1 else 'drives'} of {name.get('key', 'no name')}")""") == [
        "{} {} of {}",
        "drive",
        "drives",
        "no name",
    ]


def test_braces_of_a_template_are_no_placeholders() -> None:
    assert texts("say(f'Write {{}} as {value} here.')") == ["Write {{}} as {} here."]


def test_docstrings_do_not_count() -> None:
    source = '''
        """The module says this."""
        LIMIT = 3
        """A constant has one."""
        class Drive:
            """A class has one."""
            def spin(self):
                """A function has one."""
                return "It spins."
    '''
    assert texts(source) == texts(source, every=True) == ["It spins."]


def test_the_docstring_of_a_command_counts() -> None:
    source = '''
        @click.command("keys")
        @click.option("--json", help="json")
        def keys_command():
            """Show the keys.

            All of them.
            """
    '''
    assert texts(source) == ["json", "Show the keys.\n\nAll of them."]


def test_keys_and_what_is_compared_do_not_count() -> None:
    source = """
        value = row["Drive state"] if row["State"] == "Online" else row.get("Other state")
        if value in ("Rebuild", "Offline now") or value.startswith("Unconfigured "):
            match value:
                case "Some state":
                    say("It is gone.")
        table = {"Name": "Its name", "key": 1}
    """
    assert texts(source) == ["It is gone.", "Its name"]


def test_headings_as_keys_count() -> None:
    assert texts("table = {'Drive state': state}") == ["Drive state"]


def test_regular_expressions_do_not_count() -> None:
    assert (
        texts("""
        FOUND = re.compile("Found (some) drives")
        OTHER = pattern(r"Other drives")
    """)
        == []
    )


def test_annotations_do_not_count() -> None:
    assert texts("""
        kind: Literal["Some kind"] = "It is this."
        def drive(kind: "Some kind", other: int = 3) -> "Other kind": ...
    """) == ["It is this."]


def test_names_of_modules_do_not_count_unless_there_is_no_such_module() -> None:
    source = "TABLE = {'a': ('app.cli.keys', 'The keys.')}"
    assert [found.text for found in strings_of(source, {"app.cli.keys"})] == ["a", "The keys."]
    assert texts(source) == ["app.cli.keys", "The keys."]


def test_of_a_name_in_a_module_the_name_counts() -> None:
    assert strings_of("a = 'app.cli.keys:TABLE'", {"app.cli.keys"}) == [Found(":TABLE", 1, is_read=False)]
    assert texts("a = 'app.cli.keys:TABLE'") == ["app.cli.keys:TABLE"]


def test_what_a_module_exports_does_not_count() -> None:
    assert texts("__all__ = ('Geometry', 'Policy')\n__slots__ = ('size',)", every=True) == []


def test_every_string_is_more_than_those_that_are_read() -> None:
    source = "say(row['key'], re.match('a+', 'It is this.'), f'{one}-{two}', 'word')"
    assert texts(source) == []
    assert texts(source, every=True) == ["key", "a+", "It is this.", "{}-{}", "word"]


def test_a_string_knows_its_line() -> None:
    assert strings_of("a = 1\nb = 'It is this.'\n") == [Found("It is this.", 2, is_read=True)]
