# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The heartbeat calls its function after pauses that double, until it is stopped."""

from __future__ import annotations

import threading
import time

from ansible_collections.volcano.colocation.plugins.plugin_utils.fleet.heartbeat import Heartbeat

FIRST = 0.05


def test_pauses_double_until_it_is_stopped() -> None:
    beats: list[float] = []
    third = threading.Event()

    def beat() -> None:
        beats.append(time.monotonic())
        if len(beats) == 3:
            third.set()

    began = time.monotonic()
    heartbeat = Heartbeat(FIRST, beat)
    heartbeat.start()
    assert third.wait(60)
    heartbeat.stop()
    assert beats[2] - began >= 7 * FIRST
    assert beats[2] - beats[1] >= 4 * FIRST
    time.sleep(10 * FIRST)
    assert len(beats) == 3


def test_a_start_begins_again_with_the_first_pause() -> None:
    beats: list[float] = []
    heartbeat = Heartbeat(60.0, lambda: beats.append(0.0))
    heartbeat.start()
    heartbeat.start()
    heartbeat.stop()
    heartbeat.stop()
    assert beats == []


def test_zero_seconds_never_call() -> None:
    beats: list[float] = []
    heartbeat = Heartbeat(0.0, lambda: beats.append(0.0))
    heartbeat.start()
    time.sleep(FIRST)
    assert beats == []
