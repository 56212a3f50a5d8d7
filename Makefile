# Everything here needs Go and the module proxy, no more. `make help` lists it.

GO ?= go

# The demo's data: a generated day, or INPUT=file PRESET=lobster DATE=2012-06-21.
INPUT  ?=
PRESET ?=
DATE   ?=
DEMO   ?= data/demo
# How many acknowledged orders the demo's process lives before it is killed.
KILL   ?= $(if $(INPUT),40000,200000)
FLAGS   = --dir $(DEMO) $(if $(INPUT),--input $(INPUT) --preset $(PRESET) --date $(DATE))

.PHONY: help demo test race vet cross fuzz crash faults bench bench-full interop dist clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: ## an exchange's day: journal, match, kill -9, recover, report, verify
	@mkdir -p data bin && rm -rf $(DEMO)
	@$(GO) build -o bin/ ./examples/exchange ./cmd/ledgerctl
	@echo "== A trading day begins. The process is killed (SIGKILL) behind $(KILL) acknowledged orders."
	@bin/exchange $(FLAGS) --kill-after $(KILL) || true
	@echo "== It is started again: recover, compare with what was acknowledged, go on."
	@bin/exchange $(FLAGS)
	@echo "== The same journals by command line."
	bin/ledgerctl stat $(DEMO)/fills --format jsonl
	bin/ledgerctl tail $(DEMO)/fills --lines 3 --format table
	bin/ledgerctl verify $(DEMO)/orders $(DEMO)/fills

test: ## all tests
	$(GO) test -timeout 20m ./...

race: ## all tests under the race detector, whose processes sleep for a second at their end unless told not to
	GORACE="atexit_sleep_ms=50 $$GORACE" $(GO) test -race -timeout 30m ./...

vet: ## vet and gofmt
	$(GO) vet ./...
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these"; exit 1; }

cross: ## vet, tests included, for other systems and machines
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=linux GOARCH=386 $(GO) vet ./...

crash: ## a long run of crash images: RUNS lives for each mode from SEED
	$(GO) test ./stream -run TestCrashImages -timeout 0 -crash.runs $(or $(RUNS),200) -crash.seed $(or $(SEED),1)

faults: ## the fault campaign on real disks: needs root, loop devices and strace, and says what it skips
	$(GO) test -tags faultfs ./internal/faults/... -timeout 0 -v -faults.full

fuzz: ## every fuzz target for a while: TIME=10s each
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep ^Fuzz); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(or $(TIME),10s) $$p || exit 1; done; done

bench: ## Ledger beside its peers and the machine's limits, a few minutes
	cd bench && CGO_ENABLED=0 $(GO) run .

bench-full: ## the same with all peers, DuckDB among them, and more rounds
	cd bench && CGO_ENABLED=0 $(GO) run . --full && $(GO) run -tags duckdb . --full

interop: ## DuckDB, Polars and Arrow's JavaScript read what is written: needs a C compiler and npm
	cd bench && $(GO) test -tags duckdb,duckdb_arrow ./interop
	npm install --prefix bench/interop --no-package-lock && cd bench && $(GO) test -tags node ./interop

dist: ## archives for six systems and their checksums, of the present commit, in dist/
	$(GO) run github.com/goreleaser/goreleaser/v2@v2.16.0 release --snapshot --clean --skip=publish

clean: ## remove what was built and the demo's data
	rm -rf bin data dist
