# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redacts YAML, TOML, JSON, units and environment files line by line, so that they still parse."""

from __future__ import annotations

import re
from typing import cast

from .redact_nesting import Block, Inside, SecretFlow, closing_quote, indent_of, is_comment
from .secrets import MARK, PASSWORD_FLAG, REACH, is_password, is_public_value, is_secret_name

_NAMED = re.compile(
    r"""(?<![\w.-])(?P<key>[\w.-]+)\\{0,3}["']?(?:[ \t]*(?P<sep>:=|[:=])[ \t]*|(?P<gap>[ \t]*,[ \t]*|[ \t]+))"""
)
_TABLE = re.compile(r"\s*\[\[?(?P<name>[^,{}=\[\]]+)\]\]?\s*(?:#.*)?")
_COMPONENT = re.compile(r""""([^"]*)"|'([^']*)'|([^.\s"']+)""")
_TABLE_ENTRY = re.compile(r"""\s*(?:"[^"]*"|'[^']*'|[\w.-])+\s*=[ \t]*""")
_BLOCK_ENTRY = re.compile(
    r"""(?P<lead>[ \t]*(?:-[ \t]+|-$)*)(?P<key>(?:"[^"]*"|'[^']*'|[\w./-]+)[ \t]*:(?:[ \t]+|$))?"""
)
_BLOCK_SCALAR = re.compile(r"[|>][-+\d]*\s*(?:#.*)?")
_WHITESPACE = re.compile(r"\s*$")
_WORD = re.compile(r"\S*?(?=[\]},;]*(?:\s|$))")
_ENDS_CLEANLY = re.compile(r"\s*(?:$|[,}\])]|\s#|\\$)")
_TAIL = re.compile(r"[\]},;]*\s*\\?$")
_OPTION_ALONE = re.compile(r"""\s*(?:-\s+)?["']?(?P<key>--?[\w.-]+)["']?\s*[,\\]?\s*$""")
_VALUE_ALONE = re.compile(r"""\s*(?=[\[{]|"(?:\\.|[^"\\])*"?(?!\s*:)|'[^']*'?(?!\s*:))""")
_KEY_ALONE = re.compile(r"""(?:^\s*\?\s+|["'])([\w.-]+)["']?\s*$""")
_COLON = re.compile(r"\s*:[ \t]+(?=\S)")
_COLLECTION = re.compile(r"""[\[{]\s*(?:[\[{"'\]}]|[\w.-]+\s*=|$)""")
_NAME_VALUE = re.compile(r"""\\{0,3}["']?([\w.-]+)""")
_PEM_BEGIN, _PEM_END = "-----BEGIN ", re.compile(r"-----END [^-]*-----")


class LineRedactor:
    """Redacts one text. State between lines tracks secrets that span several lines."""

    def __init__(self) -> None:
        self._pem = False
        self._quote: str | None = None
        self._flow: SecretFlow | None = None
        self._block: Block | None = None
        self._table = False
        self._continued = False
        self._next_word = False
        self._after_flag = ""
        self._next_value = self._next_colon = False
        self._names_secret = False

    @property
    def at_rest(self) -> bool:
        """Whether the previous lines do not affect the next one."""
        awaits = self._continued or self._next_word or self._next_value or self._next_colon
        within = self._pem or self._quote or self._flow or self._block or self._table
        return not (awaits or within or self._names_secret)

    def line(self, line: str) -> str:
        """The line without the values of secret names; ``secrets.without_tokens`` removes its tokens."""
        redacted = self._open(line) or self._plain(line)
        key = _KEY_ALONE.search(line)
        self._next_colon = key is not None and is_secret_name(key[1])
        return redacted

    def _open(self, line: str) -> str | None:
        """The redacted line if it continues a secret of the previous lines; None otherwise."""
        if self._pem or _PEM_BEGIN in line:
            return self._in_pem(line)
        if self._quote:
            return self._in_quote(line)
        if self._flow:
            end, redacted = self._feed(self._flow, line, 0)
            return redacted + self._scan(line, end)
        if self._continued:
            self._continued = line.endswith("\\")
            return " " * indent_of(line) + MARK + "\\" * self._continued
        if self._next_word:
            return self._in_next_word(line)
        return None

    def _plain(self, line: str) -> str:
        value = self._awaited(line)
        if value:
            return self._forced(line, value.end(), ":")
        if self._block and line.strip():
            if self._block.covers(line):
                return self._in_block(line, self._block)
            if not is_comment(line) or self._block.comment or self._block.literal is not None:
                self._block = None
        table = _TABLE.fullmatch(line)
        if table:
            names = ["".join(parts) for parts in _COMPONENT.findall(table["name"])]
            self._table = any(is_secret_name(name) for name in names if "/" not in name)
            return line
        entry = _TABLE_ENTRY.match(line) if self._table else None
        if entry:
            return self._forced(line, entry.end(), "=")
        if self._table and is_comment(line):
            return " " * indent_of(line) + "# " + MARK
        alone = _OPTION_ALONE.fullmatch(line)
        self._next_word = alone is not None and is_secret_name(alone["key"]) and not line[-1:].isalnum()
        if alone and line.lstrip().startswith("- "):
            self._next_word = is_secret_name(alone["key"])
        if alone:
            is_flag = alone["key"] == PASSWORD_FLAG
            self._next_word, self._after_flag = self._next_word or is_flag, PASSWORD_FLAG if is_flag else ""
        return self._scan(line, 0)

    def _awaited(self, line: str) -> re.Match[str] | None:
        """The match up to the value, if this line begins with the value of a secret key at the end of the last line."""
        if self._next_colon:
            return _COLON.match(line)
        if not self._next_value or not line.strip():
            return None
        self._next_value = False
        return _VALUE_ALONE.match(line)

    def _in_pem(self, line: str) -> str:
        begin = 0 if self._pem else line.index(_PEM_BEGIN)
        end = _PEM_END.search(line, begin)
        self._pem = end is None
        lead = " " * indent_of(line) if not line[:begin].strip() else self._scan(line[:begin], 0)
        return lead + MARK + (line[end.end() :] if end else "")

    def _in_quote(self, line: str) -> str:
        quote = cast(str, self._quote)
        end = closing_quote(line, 0, quote)
        lead = " " * indent_of(line) + MARK
        if end is None:
            return lead
        self._quote = None
        after_quote = end + len(quote)
        if self._flow:
            stop, redacted = self._feed(self._flow, line, after_quote)
            return lead + quote + redacted + self._scan(line, stop)
        return lead + quote + self._scan(line, after_quote)

    def _in_next_word(self, line: str) -> str:
        self._next_word = False
        word = re.match(r"""(\s*(?:-\s+|(?!-\s)))(?!["']?--)("[^"]*"|'[^']*'|[^\s"',\]]+)""", line)
        flag, self._after_flag = self._after_flag, ""
        if not word or (flag and not is_password("", word[2])):
            return self._plain(line)
        return (
            word[1] + MARK.join((word[2][0],) * 2 if word[2][0] in "\"'" else ("", "")) + self._scan(line, word.end())
        )

    def _in_block(self, line: str, block: Block) -> str:
        indent = indent_of(line)
        if block.literal is not None:
            if indent > block.literal:
                return " " * indent + MARK
            block.literal = None
        if block.comment or is_comment(line):
            return " " * indent + "# " + MARK
        entry = cast("re.Match[str]", _BLOCK_ENTRY.match(line))
        if _BLOCK_SCALAR.fullmatch(line, entry.end()):
            block.literal = len(entry["lead"]) if entry["key"] else indent
            return line.partition("#")[0]
        return self._forced(line, entry.end(), "-")

    def _forced(self, line: str, start: int, separator: str) -> str:
        """The line with the value at ``start`` hidden, whatever its name."""
        if not line[start:].strip():
            return line
        end, redacted = self._value(line, start, separator, "")
        return line[:start] + redacted + self._scan(line, end)

    def _scan(self, line: str, start: int) -> str:
        """The line from ``start`` on, with the values of secret names hidden."""
        parts: list[str] = []
        inside = Inside()
        position = start
        while True:
            match = self._secret_name(line, position, inside)
            if match is None:
                return "".join((*parts, line[start:]))
            end, value = self._named_value(line, match, inside)
            parts += [line[start : match.end()], value]
            start = position = end

    def _secret_name(self, line: str, start: int, inside: Inside) -> re.Match[str] | None:
        position = start
        for match in _NAMED.finditer(line, start):
            # The quotes of a quoted key do not enclose its value.
            begin, end = match.span("key")
            is_quoted = begin > 0 and line[begin - 1] in "\"'" and line[begin - 1] == line[end : end + 1]
            inside.pass_over(line, position, begin - is_quoted)
            position = end + 1 if is_quoted else begin
            if not is_quoted and inside.quote and line[end : end + 1] == inside.quote:
                inside.quote, position = "", end + 1  # a quoted key of several words
            if (match["sep"] or match["key"].startswith("-")) and self._is_secret(line, match):
                return match
        return None

    def _is_secret(self, line: str, match: re.Match[str]) -> bool:
        """Whether a setting is secret by its name, or as the ``value`` that follows a secret ``name``."""
        if match["key"] == PASSWORD_FLAG:
            self._after_flag = PASSWORD_FLAG
            begin, end = match.start(), match.end()
            return is_password(line[max(0, begin - REACH) : begin], line[end : end + REACH])
        key = match["key"].lower()
        if key in ("name", "key") and match["sep"]:
            named = _NAME_VALUE.match(line, match.end())
            self._names_secret = named is not None and is_secret_name(named[1])
        is_secret = (key == "value" and self._names_secret) or is_secret_name(match["key"])
        self._after_flag = "" if is_secret else self._after_flag
        return is_secret

    def _named_value(self, line: str, match: re.Match[str], inside: Inside) -> tuple[int, str]:
        key, start = match["key"], match.end()
        # This function must not copy the line: a hostile line is long and has many names.
        if match["gap"] and (line.startswith(("-", '"-', "'-", "\\"), start) or start == len(line)):
            self._next_word = self._next_word or line[start : start + 2] == "\\"
            return start, ""
        if _WHITESPACE.match(line, start) or line.startswith("#", start) or _BLOCK_SCALAR.fullmatch(line, start):
            return self._empty_value(line, match, line[start:])
        if key.lower() == "authorization" and line.startswith("{", start):
            return start, ""
        if inside.quote:
            return self._enclosed(line, start, inside.quote, key)
        kind = "word" if key.startswith("-") or line.lstrip().startswith("Environment=") else match["sep"] or "word"
        if inside.brackets and kind != "word" and line[start] not in "\"'[{":
            return self._in_open_flow(line, start)
        end, redacted = self._value(line, start, kind, key)
        if kind == ":" and end >= len(line.rstrip()) and not self._quote and not self._flow:
            self._block = Block(self._column(line, match), is_comment(line))
        return end, redacted

    @staticmethod
    def _column(line: str, match: re.Match[str]) -> int:
        """The column of the key with its quote; lines that begin to the right of it continue the value."""
        at = match.start("key")
        return at - 1 if at and line[at - 1] in "\"'" else at

    def _empty_value(self, line: str, match: re.Match[str], tail: str) -> tuple[int, str]:
        if match["sep"] == ":" and match["key"].lower() != "authorization":
            column = self._column(line, match)
            scalar = _BLOCK_SCALAR.fullmatch(tail) is not None
            self._block = Block(column, is_comment(line), scalar, column if scalar else None)
            self._next_value = column < match.start("key")  # a quoted key may be one of JSON
        redacted = tail.partition("#")[0] + ("# " + MARK if "#" in tail else "")
        return len(line), redacted

    def _enclosed(self, line: str, start: int, quote: str, key: str) -> tuple[int, str]:
        """A value inside a quoted string: an option's value ends with its word, other values with the string."""
        closing = closing_quote(line, start, quote)
        end = len(line) if closing is None else closing
        if key.startswith("-"):
            word = re.match(r"""\\?(["']).*?\1|[^\s"']+""", line[start:end])
            end = start + (word.end() if word else 0)
        elif closing is None and not is_comment(line):
            self._quote = quote
        return end, line[start:end] if is_public_value(line[start:end]) else MARK

    @staticmethod
    def _in_open_flow(line: str, start: int) -> tuple[int, str]:
        match = re.compile(r""",(?=\s|["'])|[}\]]|$""").search(line, start)
        end = match.start() if match else len(line)
        return end, line[start:end] if is_public_value(line[start:end]) else MARK

    def _value(self, line: str, start: int, kind: str, key: str) -> tuple[int, str]:
        """End and replacement of a value outside strings. ``kind``: its separator, or ``word``."""
        if line[start] in "\"'":
            return self._quoted(line, start, kind)
        if line[start] in "{[" and kind != "word" and (kind != "=" or _COLLECTION.match(line, start)):
            return (len(line), MARK) if is_comment(line) else self._feed(SecretFlow(), line, start)
        if kind == "word":
            word = _WORD.match(line, start)
            end = word.end() if word else len(line)
            self._next_word, self._after_flag = end == len(line) and line.endswith("\\"), ""
            return end, line[start:end] if is_public_value(line[start:end]) else MARK
        return self._to_line_end(line, start)

    def _to_line_end(self, line: str, start: int) -> tuple[int, str]:
        value, comment, _comment_text = line[start:].partition(" #")
        if is_public_value(value.rstrip(",]} ")):
            return start + len(value), value
        tail = _TAIL.search(line, start)
        end = tail.start() if tail and not comment else len(line)
        self._continued = line.endswith("\\")
        return end, MARK

    def _feed(self, flow: SecretFlow, line: str, start: int) -> tuple[int, str]:
        end, redacted = flow.feed(line, start)
        self._flow, self._quote, flow.quote = flow if flow.brackets else None, flow.quote, None
        return end, redacted

    def _quoted(self, line: str, start: int, kind: str) -> tuple[int, str]:
        quote = line[start]
        if kind == "=" and line.startswith(quote * 3, start):
            quote *= 3
        begin = start + len(quote)
        end = closing_quote(line, begin, quote)
        if end is None:
            self._quote = None if is_comment(line) else quote
            return len(line), quote + MARK
        after = end + len(quote)
        clean = _ENDS_CLEANLY.match(line, after) or (kind == "word" and line[after : after + 1].isspace())
        if not clean:
            return self._to_line_end(line, start)
        hidden = line[begin:end] if is_public_value(line[begin:end]) else MARK
        comment = re.compile(r"(\s*[,}\])]*\s*)[#;]").match(line, after)
        return (
            (len(line), f"{quote}{hidden}{quote}{comment[1]}# {MARK}") if comment else (after, quote + hidden + quote)
        )
