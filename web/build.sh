#!/usr/bin/env bash
# Builds the pages into crates/agon-web/assets, which is committed: `cargo build` needs no Node.
# `web/build.sh --check` builds elsewhere and compares, and says so if Node is not there.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null; then
  echo "SKIPPED: the pages were not built again, because there is no npm here"
  exit 0
fi
if ! ./install; then
  echo "SKIPPED: the pages were not built again, because npm could not install its packages"
  exit 0
fi
npx svelte-check --threshold error --output human
if [ "${1:-}" = "--check" ]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
  npx vite build --logLevel warn --outDir "$out"
  diff -r "$out" ../crates/agon-web/assets || {
    echo "crates/agon-web/assets does not match web/: run web/build.sh and commit the result"
    exit 1
  }
  echo "crates/agon-web/assets matches web/"
else
  npx vite build --logLevel warn
fi
