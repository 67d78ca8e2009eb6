#!/bin/sh
# Installs the real library, builds foldproof for measuring, and compares the two. Arguments go to compare.mjs.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
cargo build --quiet --profile dist -p foldproof-harness --bin foldproof --example measure
exec node compare.mjs "$@"
