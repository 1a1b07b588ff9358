# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

PYTHON := .cache/venv/bin/python
RUN := PYTHONPATH=.cache/dev $(PYTHON) -m ansible_collections.volcano.colocation.tests.run

# `make test STAGES="lint units"` runs some of them; unset runs all.
STAGES ?=

# `make sanity TEST=validate-modules` and `make scenario NAME=v2-systemd` run one of them.
TEST ?=
NAME ?=

# `make test-faults ARGS=--short`: what tests/faults takes.
ARGS ?=

.PHONY: help setup test test-faults sanity scenario demo bench lock clean

help:
	@echo 'make demo    misaligned throwaway node -> provisioned and proven node, in a VM'
	@echo 'make test    every test; STAGES="lint units" for some of them'
	@echo 'make test-faults    nodes are interrupted in every way, for hours; see docs/faults.md'
	@echo 'make sanity, make scenario    one part of the tests; see docs/contributing.md'
	@echo 'make bench   provision against ansible -m ping and a stock playbook'
	@echo 'make setup   what the three above need; they run it themselves'
	@echo 'make lock    writes requirements/constraints.txt anew from requirements/dev.txt'
	@echo 'make clean   stops the nodes and the control plane of the tests and removes .cache'

setup:
	@tests/setup

test: setup
	@$(RUN) $(STAGES)

test-faults: setup
	@$(RUN).install && $(PYTHON) tests/faults $(ARGS)

sanity: setup
	@$(RUN).sanity $(if $(TEST),--test $(TEST))

scenario: setup
	@$(RUN).install && $(RUN).scenarios scenarios $(NAME)

demo: setup
	@$(PYTHON) tests/demo

bench: setup
	@$(PYTHON) tests/bench

lock:
	@tests/setup --lock

clean:
	@for state in .cache/nodes/* .cache/*/nodes; do \
		export COLOCATION_LAB_STATE=$$state; \
		[ ! -d $$state ] || { python3 tests/lab down --all && python3 tests/lab cluster down; }; \
	done
	@rm -rf .cache
