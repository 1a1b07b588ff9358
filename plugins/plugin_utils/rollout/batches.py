# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes a rollout changes together: Ansible's own `serial`, told beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..profile.validators import ProfileError

Size = int | str


def batches(names: Sequence[str], sizes: Sequence[Size]) -> tuple[tuple[str, ...], ...]:
    """The nodes in their batches; the last size holds for all that is left. ProfileError for what is no size."""
    left, found = list(names), []
    for count in _counts([_size(each) for each in sizes], len(names)):
        if not left:
            break
        found.append(tuple(left[:count]))
        left = left[count:]
    return tuple(found)


def _counts(sizes: Sequence[tuple[int, bool]], total: int) -> Iterator[int]:
    """ansible.utils.helpers.pct_to_int: a part of all nodes of the play, and one at least."""
    counts = [max(1, number * total // 100) if percent else number for number, percent in sizes]
    yield from counts
    while True:
        yield counts[-1]


def _size(given: Size) -> tuple[int, bool]:
    text = str(given).strip()
    digits = text.removesuffix("%")
    if not digits.isascii() or not digits.isdecimal() or int(digits) < 1 or (text != digits and int(digits) > 100):
        raise ProfileError(
            "colocation_rollout_batches",
            f"{given!r} is neither a number of nodes from 1 nor a percentage such as '10%'",
        )
    return int(digits), text != digits
