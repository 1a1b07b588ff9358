# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's reader of the tutorial: steps, and screens that are recorded from the output and compared with it."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.demo import tutorial
from ansible_collections.volcano.colocation.tests.demo.tutorial import BadPage, CommandStep, FileStep, WrongScreen

PAGE = """\
# Title

## First

`group_vars/all.yml`:

```yaml
a: 1
```

```console
ansible-playbook first
ansible-playbook second
```

<!-- screen 2, from "node1: MISALIGNED" to "what to do" -->
```text
```

## Second

```sh
not a step
```
"""
ID, OTHER_ID = "78ed47e33378ab" * 2, "0011223344556677"
OUTPUT = """
PLAY [Assess] ***
TASK [Report] ***
node1: {verdict}. pod {id}, kernel {kernel}
    5 container(s) run outside
      /system.slice/x.slice:cri-containerd:{id}
ok: [node1] => {{
    "msg": "text"
}}
  what to do
node1 : ok={ok} changed=0
"""


def output(verdict: str = "MISALIGNED", id: str = ID, kernel: str = "6.1", ok: int = 7) -> str:
    return OUTPUT.format(verdict=verdict, id=id, kernel=kernel, ok=ok)


def recorded() -> str:
    return tutorial.record(PAGE, {1: "", 2: output()})


def test_steps_are_files_and_commands_with_their_heading() -> None:
    assert tutorial.steps(PAGE) == (
        FileStep("group_vars/all.yml", "a: 1\n"),
        CommandStep("First", "ansible-playbook first"),
        CommandStep("First", "ansible-playbook second"),
    )


def test_a_screen_is_a_part_of_the_output_without_ansibles_lines() -> None:
    text = recorded().partition("```text\n")[2].partition("```")[0]
    assert text.splitlines() == [
        f"node1: MISALIGNED. pod {ID}, kernel 6.1",
        "    5 container(s) run outside",
        f"      /system.slice/x.slice:cri-containerd:{ID}",
        '    "msg": "text"',
        "  what to do",
    ]
    assert tutorial.record(recorded(), {1: "", 2: output()}) == recorded()


def test_values_of_another_run_do_not_differ() -> None:
    other = output(id=OTHER_ID, kernel="7.2.12-lab", ok=9).replace("5 container", "4 container")
    tutorial.check("page", recorded(), {2: other})


def test_the_duration_of_a_change_does_not_differ() -> None:
    page = PAGE.replace('from "node1: MISALIGNED" to "what to do"', 'from ": committed" to ": committed"')
    line = "  node1: committed, 8 step(s) done, now: health gate"
    tutorial.check("page", tutorial.record(page, {2: f"{line}, 1 min 7 s"}), {2: f"{line}, 25 s"})
    with pytest.raises(WrongScreen):
        tutorial.check("page", tutorial.record(page, {2: f"{line}, 25 s"}), {2: line})


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        (output(verdict="ALIGNED"), "node1: MISALIGNED"),
        (output().replace("what to do", "do this"), "what to do"),
    ],
)
def test_a_line_that_is_not_printed_is_named(printed: str, text: str) -> None:
    with pytest.raises(WrongScreen) as wrong:
        tutorial.check("docs/page.md", recorded(), {2: printed})
    assert str(wrong.value).startswith("docs/page.md: command 2 of the tutorial")
    assert text in str(wrong.value)
    assert "--record" in str(wrong.value)


@pytest.mark.parametrize("missing", ["node1: MISALIGNED", "what to do"])
def test_a_screen_needs_both_ends_in_the_output(missing: str) -> None:
    with pytest.raises(BadPage, match=missing):
        tutorial.record(PAGE, {2: output().replace(missing, "x")})
