# A thin front of packaging/bootstrap.py, which does the same on Windows and macOS.
PYTHON ?= python3

.PHONY: run test test-all test-adapters check bench mutation setup clean

run test test-all test-adapters check bench mutation setup clean:
	@$(PYTHON) packaging/bootstrap.py $@
