#!/usr/bin/env bash
# Write the command `bpe` of this checkout into an environment: make_command.sh .venv
# It needs no pip and no build tools there, which Debian's Python may lack.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$(cd "$1" && pwd)

# The shell reads the second line, and Python two texts: a path may have spaces, which an interpreter
# named in the first line must not have.
cat > "$venv/bin/bpe" <<SCRIPT
#!/bin/sh
'''exec' "$venv/bin/python" "\$0" "\$@"
' '''
import sys

if __name__ == "__main__":
    sys.path.insert(0, "$PWD")
    from bpe_core.__main__ import main

    main()
SCRIPT
chmod +x "$venv/bin/bpe"
