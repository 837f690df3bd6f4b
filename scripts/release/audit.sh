#!/usr/bin/env bash
# Look up known vulnerabilities of the pinned packages, and list these in dist-sbom/ as CycloneDX.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p dist-sbom
python -m cyclonedx_py requirements requirements/run.txt --pyproject pyproject.toml \
  --output-reproducible --output-format JSON --output-file dist-sbom/bpe-explorer.cdx.json
python -m pip_audit --require-hashes --disable-pip --requirement requirements/run.txt
