# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task on many hosts: a line with counts, groups of texts and differences, progress."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.volcano.colocation.plugins.plugin_utils.fleet.task_tally import Line, Outcome, TaskTally


def limit(_name: str, hosts: Collection[str]) -> str:
    return f"--limit {','.join(hosts)}"


def tally(*results: tuple[str, Outcome], is_once: bool = False) -> TaskTally:
    task = TaskTally("Look", 100.0, is_once=is_once)
    for host, outcome in results:
        task.start(host, 100.0)
        task.end(host, outcome, 100.4)
    return task


def test_the_line_has_the_counts_the_worst_first_and_its_colour() -> None:
    task = tally(("a", Outcome.OK), ("b", Outcome.OK), ("c", Outcome.UNREACHABLE), ("d", Outcome.IGNORED))
    assert task.render_counts() == Line("Look: 1 unreachable, 1 failed and ignored, 2 ok", Outcome.UNREACHABLE)


def test_the_time_is_shown_from_a_second_on_and_without_pauses_between_batches() -> None:
    task = tally(("a", Outcome.OK))
    task.resume(500.0)
    task.start("b", 500.0)
    assert task.end("b", Outcome.CHANGED, 542.0) == 42.0
    assert task.render_counts().text == "Look: 1 changed, 1 ok, 42 s"


def test_a_task_that_all_hosts_skip_has_no_news() -> None:
    assert not tally(("a", Outcome.SKIPPED)).has_news()
    assert tally(("a", Outcome.SKIPPED), ("b", Outcome.OK)).has_news()


def test_a_task_on_one_host_has_news_if_it_changes_something_or_has_a_message() -> None:
    task = tally(("a", Outcome.OK), is_once=True)
    assert not task.has_news()
    assert tally(("a", Outcome.CHANGED), is_once=True).has_news()
    task.add_text("a", Outcome.OK, "read me")
    assert task.has_news()


def test_texts_are_grouped_by_outcome_and_shown_once() -> None:
    task = tally(("a", Outcome.FAILED), ("b", Outcome.FAILED), ("c", Outcome.OK), ("d", Outcome.OK))
    for host in "ab":
        task.add_text(host, Outcome.FAILED, f"{host} is down")
    task.add_text("c", Outcome.OK, "hello")
    task.add_text("d", Outcome.OK, "")
    assert list(task.render_texts(limit)) == [
        Line("  2 hosts failed: HOST is down", Outcome.FAILED),
        Line("    --limit a,b", Outcome.FAILED),
        Line("  c: hello", Outcome.OK),
    ]
    assert list(task.render_texts(limit)) == []


def test_the_same_difference_of_several_hosts_is_shown_once() -> None:
    task = tally()
    for host in "ab":
        task.add_diff(host, "-x\n+y\n")
    task.add_diff("c", "-z\n")
    assert [line.text for line in task.render_diffs(limit)] == [
        "2 hosts, --limit a,b",
        "-x\n+y\n",
        "1 host, --limit c",
        "-z\n",
    ]
    assert list(task.render_diffs(limit)) == []


def test_a_running_task_shows_its_first_hosts_and_their_time() -> None:
    task = tally(("a", Outcome.OK))
    for number in range(5):
        task.start(f"n{number}", 100.0 + number)
    assert task.render_running(165.0) == (
        "Look: 1 host ended; running: n0 1 min 5 s, n1 1 min 4 s, n2 1 min 3 s and 2 others"
    )


def test_a_long_name_leaves_room_for_the_progress() -> None:
    task = TaskTally("word " * 40, 0.0)
    task.start("n1", 0.0)
    assert task.render_running(9.0).endswith("word …: 0 hosts ended; running: n1 9 s")
