#!/usr/bin/env bash
# Succeed if a tag, such as v0.1.0, names this version and the changelog has it.
set -euo pipefail
cd "$(dirname "$0")/../.."
version="${1#v}"
if ! grep -qxF "__version__ = \"$version\"" bpe_core/__init__.py; then
  echo "The tag is $1, but bpe_core/__init__.py has $(grep -x '__version__ = .*' bpe_core/__init__.py)." >&2
  exit 1
fi
if ! grep -qF "## [$version]" CHANGELOG.md; then
  echo "CHANGELOG.md has no section for $version: give the changes under [Unreleased] its name." >&2
  exit 1
fi
