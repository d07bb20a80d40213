"""Shell lines with variables: bash must read the same words as before."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.documents.export.by_hand import Substitutions

PLACES = Substitutions(
    {"/here/run": "$CELL", "/here": "$KVSTUDY"}, {6379: "$PORT", 6390: "$((PORT + 11))"}
)
VALUES = {"CELL": "/else where/cell", "KVSTUDY": "/elsewhere", "PORT": "7000"}


def words(line: str) -> list[str]:
    """The words that bash makes of the arguments in ``line``."""
    script = f"printf '%s\\0' {line}"
    done = subprocess.run(["bash", "-c", script], env=os.environ | VALUES, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    ("word", "present"),
    [
        ("--dir=/here/run/data", "--dir=/else where/cell/data"),
        ("/here/servers/x/*", "/elsewhere/servers/x/*"),
        ("127.0.0.1:6379", "127.0.0.1:7000"),
        ("port 6390", "port 7011"),
        ('say "$HOME" `ls` \\n! in /here', 'say "$HOME" `ls` \\n! in /elsewhere'),
        # Not the port, but a part of other numbers and names.
        ("16379", "16379"),
        ("1.6379", "1.6379"),
        ("a6379", "a6379"),
        ("$HOME", "$HOME"),
        ("", ""),
    ],
)
def test_words_are_the_same_but_for_the_places(word, present):
    assert words(PLACES.word(word)) == [present]


@given(st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=12))
def test_no_letter_is_lost_in_quotes(text):
    shown = PLACES.word(f"{text} /here/run/x")
    # Read as the shell does between double quotes; a bash for each example would take long.
    inner = shown.removeprefix('"').removesuffix('"').replace("$CELL", "\0", 1)
    plain = ""
    letters = iter(inner)
    for letter in letters:
        following = next(letters, "") if letter == "\\" else None
        if following is None:
            assert letter not in '"`$'
            plain += letter
        else:
            plain += following if following in '\\"`$' else f"\\{following}"
    assert plain == f"{text} \0/x"


def test_variables_and_signs_between_words_keep_their_meaning():
    line = PLACES.line("LD_LIBRARY_PATH=/here/lib TWO='a b' run -p a=/here/run > '/here/run/a b' &")
    assert line == ("""LD_LIBRARY_PATH="$KVSTUDY/lib" TWO='a b' run -p "a=$CELL" > "$CELL/a b" &""")
