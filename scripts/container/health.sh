#!/usr/bin/env bash
# Succeed if the server answers.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec .venv/bin/python -c '
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=5) as answer:
    sys.exit(answer.read() != b"ok")
' "http://127.0.0.1:${PORT:-8501}/_stcore/health" 2>/dev/null
