# Every target makes its own set-up first and is quick the second time.
.PHONY: help serve dev test check build bench screens fmt

help: ## this list
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

serve: ## build the app, serve it on http://127.0.0.1:8080/ and open it
	@scripts/serve.sh

dev: ## the same with unoptimised, faster builds
	@scripts/serve.sh --dev

test: ## every test: format, lints, native, and the release page in Chromium
	@scripts/test.sh

check: ## the fast loop: format, lints, native tests
	@scripts/check.sh

build: ## the release page in dist/, for any folder of a static host
	@scripts/build.sh

bench: ## measure, natively and in Chromium, against the budgets
	@scripts/bench.sh

screens: build ## pictures of the release page in target/screens/
	@scripts/screens.sh

fmt: ## format the sources
	@cargo fmt
