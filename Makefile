# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

PYTHON := .cache/venv/bin/python
COLLECTION := ansible_collections.volcano.colocation

# `make test STAGES="lint units"` runs some of them; unset runs all.
STAGES ?=

.PHONY: help setup test demo bench lock clean

help:
	@echo 'make demo    misaligned throwaway node -> provisioned and proven node, in a VM'
	@echo 'make test    every test; STAGES="lint units" for some of them'
	@echo 'make bench   provision against ansible -m ping and a stock playbook'
	@echo 'make setup   what the three above need; they run it themselves'
	@echo 'make lock    writes requirements/constraints.txt anew from requirements/dev.txt'
	@echo 'make clean   stops the lab nodes of this checkout and removes .cache'

setup:
	@tests/setup

test: setup
	@PYTHONPATH=.cache/dev $(PYTHON) -m $(COLLECTION).tests.run $(STAGES)

demo: setup
	@$(PYTHON) tests/demo

bench: setup
	@$(PYTHON) tests/bench

lock:
	@tests/setup --lock

clean:
	@python3 tests/lab down --all
	@rm -rf .cache
