#!/usr/bin/env bash
# Install what the app needs into .venv, while the image is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/make_venv.sh requirements/run.txt
