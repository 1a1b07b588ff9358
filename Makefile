# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

PYTHON := .cache/venv/bin/python
TESTS := PYTHONPATH=.cache/dev $(PYTHON) -m ansible_collections.volcano.colocation.tests
RUN := $(TESTS).run

# `make test STAGES="lint units"` runs some of them; unset runs all. The same for test-matrix and test-long.
STAGES ?=

# `make lint TOOL=mypy` runs one tool of the stage.
TOOL ?=

# `make sanity TEST=validate-modules` and `make scenario NAME=v2-systemd` run one of them.
TEST ?=
NAME ?=

# `make test-faults ARGS=--short`: what tests/faults takes. `make lock ARGS=--upgrade`: what uv takes.
ARGS ?=

# `make release VERSION=1.2.3` is a dry run; APPLY=yes creates commit and tag, KEY=ID signs with a key of GnuPG.
VERSION ?=
APPLY ?=
KEY ?=

# What all checkouts share; the lab's part may be removed whenever no node runs.
CACHES = "$${XDG_CACHE_HOME:-$$HOME/.cache}/volcano-colocation" \
	"$${COLOCATION_LAB_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/volcano-colocation-lab}"

.PHONY: help setup test test-matrix test-faults test-long lint sanity scenario demo bench bench-scheduler lock docs \
	docs-site release clean clean-cache

help:
	@echo 'make demo         show the collection: misalign a throwaway node, provision it, prove the result'
	@echo 'make test         run every stage of the tests; STAGES="lint units" runs some of them'
	@echo 'make test-matrix  run the tests with older and newer releases of Kubernetes, containerd and Volcano'
	@echo 'make test-faults  interrupt nodes in every way, for hours; docs/faults.md explains ARGS'
	@echo 'make test-long    run tests that take hours: all faults, repeated scenarios, exhaustive unit tests, mutants'
	@echo 'make lint         run the linters and type checks; TOOL=mypy runs one of them'
	@echo 'make sanity       run ansible-test sanity; TEST=validate-modules runs one test'
	@echo 'make scenario     run the Molecule scenarios; NAME=v2-systemd runs one of them'
	@echo 'make bench        measure provision against ansible -m ping and a stock playbook'
	@echo 'make bench-scheduler  measure the role scheduler and its configuration with 500 Nodes and 5,000 pods'
	@echo 'make setup        install what the targets above need; they do it themselves'
	@echo 'make lock         write requirements/locks, and go.mod and go.sum of the programs in tests/lab/go; ARGS=--upgrade'
	@echo 'make docs         write what is generated: tables of pages, documentation and variables of settings'
	@echo 'make docs-site    build the documentation as a site in .cache/docsite/html'
	@echo 'make release      prepare the release VERSION=1.2.3 without publishing it; CONTRIBUTING.md explains it'
	@echo 'make clean        stop the nodes of the tests and remove .cache of this checkout'
	@echo 'make clean-cache  remove what all checkouts share: Python tools, node images, programs'

setup:
	@tests/setup

# `exec`: make sends its SIGTERM to the shell, which would leave the stages running.
test test-matrix test-long: setup
	@exec env $(RUN) --suite $@ $(STAGES)

test-faults: setup
	@$(RUN).install && $(PYTHON) tests/faults $(ARGS)

lint: setup
	@$(if $(TOOL),$(RUN).lint $(TOOL),exec env $(RUN) --suite test lint)

sanity: setup
	@$(RUN).sanity $(if $(TEST),--test $(TEST))

scenario: setup
	@$(RUN).install && $(RUN).scenarios scenarios $(NAME)

demo: setup
	@$(PYTHON) tests/demo

bench: setup
	@$(PYTHON) tests/bench

bench-scheduler: setup
	@$(PYTHON) tests/bench --scheduler-only $(ARGS)

lock: setup
	@$(RUN).locks $(ARGS) && $(PYTHON) tests/lab programs --lock

docs: setup
	@$(RUN).pages

docs-site: setup
	@$(RUN).lint docs-site

release: setup
	@$(TESTS).release "$(VERSION)" $(if $(KEY),--key "$(KEY)") $(if $(filter yes,$(APPLY)),--apply)

clean:
	@for state in .cache/nodes/* .cache/*/nodes; do \
		export COLOCATION_LAB_STATE=$$state; \
		[ ! -d $$state ] || { python3 tests/lab down --all && python3 tests/lab cluster down; }; \
	done
	@rm -rf .cache

clean-cache:
	@nodes=$$(python3 tests/lab list) && [ -z "$$nodes" ] || \
		{ echo "nodes still use the images; stop them first: python3 tests/lab down --all"; exit 1; }
	@rm -rf $(CACHES)
