# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words that the project does not use, in prose and in names: the table, and where a file breaks it.

    python3 -m ansible_collections.volcano.colocation.tests.tools.language plugins/plugin_utils/rules docs README.md

prints each place as ``path:line: "word": write …``.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PHRASES: Mapping[str, str] = {
    r"told|tells?|telling": "reports, shows, says",
    r"held against": "compared with",
    r"(?<!there\s)(?:is|are|was|were) no (?!longer|more|less|later|earlier|other)\w+": "is not a …, has no …",
    r"comes? to(?! an end)": "results in, is",
    r"(?:no|some|any|every)body": "name who: no user, another process",
    r"folders?": "directory",
    r"blanks?(?! lines?)": "space, whitespace, empty",
    r"anew": "again, re-create",
    r"heed(?:s|ed)?|foresees?|foreseen|blamed?|outlook|deeds?|fates?|upkeep|patience": "the field's own word",
    r"put(?:s|ting)? (?:it |them )?back": "restore, roll back",
    r"(?:take[sn]?|took|taking) (?:it |them )?away": "delete, remove",
    r"set(?:s|ting)? aside": "move aside",
    r"carr(?:y|ies|ied|ying) (?:it |them )?out": "apply, run",
    r"settle[sd]?|settling": "decide, recover, become stable",
    r"leftovers?": "what it is: abandoned files, cleanup",
    r"meanwhile": "at the same time, in between",
    r"(?:is|are|was|were) to (?:be|have|say|stay|come|go|get)": "should, must, will",
    r"of (?:its|their|his|her) own(?! accord)": "its own, a separate",
    r"of none": "of no …, without",
    r"see(?:s|n)? to it|(?:sees|seen) to": "ensure",
    r"beats|beaten": "overrides, takes precedence over",
    r"wish(?:es|ed)?": "want, desired",
    r"in force": "in effect",
    r"stands? (?:in|at)": "is in, is at",
    r"ours|theirs": "managed, foreign",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"under way": "in progress, running",
    r"at once": "immediately, at the same time",
    r"save for|but for|lest|thereof|therein|wherein|hereby|whatsoever|aught|ought": "plain words",
    r"(?:no|what|which) use (?:to|for)|of no use": "cannot be used",
    r"unheard|unsaid|untold": "not reported, unknown",
    r"goes? again": "is removed",
    r"makes? sure that nothing": "checks that nothing",
}
"""Pattern of whole words, in any letter case: what to write in its place."""

NAMES: Mapping[str, str] = {
    "each": "the element: pod, handler",
    "told": "reported, reports",
    "said": "output, message",
    "found": "what it is: handlers, findings",
    "wanted": "desired",
    "given": "options, arguments",
    "noted": "recorded",
    "left": "remaining, or what it is",
    "rest": "remaining",
    "seen": "observed, current",
    "shown": "rendered, or what it is",
    "kept": "what it is",
    "held": "what it is",
    "taken": "what it is",
    "lost": "missing",
    "spared": "what it is",
    "gone": "deleted, missing",
    "heard": "received",
    "tried": "attempts",
    "ours": "managed",
    "others": "foreign, or what it is",
    "theirs": "foreign",
    "there": "existing, present",
    "here": "current, local",
    "wish": "desired",
    "want": "desired",
    "folder": "directory",
    "blank": "whitespace, empty",
    "anew": "again",
    "deed": "operation",
    "fate": "action",
    "nature": "attributes",
    "outlook": "preview",
    "leftover": "abandoned",
    "former": "previous",
    "answer": "response, result",
}
"""Name of a variable, parameter, function or class, without underscores around it: what to write in its place."""

PARTS = frozenset({"folder", "folders", "told", "anew", "deed", "fate", "outlook", "leftover", "leftovers", "wish"})
"""Words that no part of a name is either (``folder_of``)."""


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.$/{{-])(?:{words.replace(' ', chr(92) + 's+')})(?![\w$/-])", re.IGNORECASE)


PROSE = {_pattern(words): advice for words, advice in PHRASES.items()}
"""A phrase may go over the end of a line."""

ANY = _pattern("|".join(f"(?:{words})" for words in PHRASES))
"""One search instead of one for each phrase, since most texts have none."""

TEXTS = frozenset({tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)})
KEY = re.compile(r"[\"']\w+[\"']")
"""A text that is a single word is a key, of a document that is stored or returned; keys stay."""

ENDINGS = frozenset({".py", ".md", ".yml", ".yaml", ".j2"})


@dataclass(frozen=True)
class Place:
    """A word that the project does not use."""

    path: Path
    line: int
    word: str
    advice: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: "{self.word}": write {self.advice}'


def in_prose(path: Path, text: str, first: int = 1) -> Iterator[Place]:
    """Places in a text of which the first line has the number ``first``."""
    for pattern, advice in PROSE.items() if ANY.search(text) else ():
        for match in pattern.finditer(text):
            yield Place(path, first + text.count("\n", 0, match.start()), " ".join(match[0].split()), advice)


def in_python(path: Path, text: str) -> Iterator[Place]:
    """Places in comments, texts and names of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in TEXTS and not KEY.fullmatch(token.string):
            yield from in_prose(path, token.string, token.start[0])
    for name, line in sorted(set(bound_names(ast.parse(text)))):
        bare = name.strip("_")
        parts = PARTS.intersection(re.split(r"_|(?<=[a-z])(?=[A-Z])", bare.lower()))
        if bare.lower() in NAMES:
            yield Place(path, line, name, NAMES[bare.lower()])
        elif parts:
            yield Place(path, line, name, f"it without {', '.join(sorted(parts))}")


def bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that a file makes, with their lines: variables, fields, parameters, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node.lineno


def places(path: Path) -> list[Place]:
    """Places of one file, in the order of its lines."""
    text = path.read_text(encoding="utf-8")
    read = in_python if path.suffix == ".py" else in_prose
    return sorted(read(path, text), key=lambda place: (place.line, place.word))


def files(area: Path) -> list[Path]:
    """The file, or the files of a directory, that have prose or code; fixtures, which are data, have none."""
    paths = sorted(area.rglob("*")) if area.is_dir() else [area]
    return [path for path in paths if path.suffix in ENDINGS and path.is_file() and "fixtures" not in path.parts]


def main(arguments: list[str]) -> int:
    """Print the places in files and directories; 1 where there are any."""
    bad = [place for argument in arguments for path in files(Path(argument)) for place in places(path)]
    for place in bad:
        print(place)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
