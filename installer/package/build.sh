#!/usr/bin/env bash
# Makes what a volunteer gets on a system like this one, without an installer around it:
#   build/package/tequio           app, worker, seed, probe, and all commands that need no torch
#   build/package/tequio-runtime   trainer and evaluator, with the torch of this environment
# Usage: installer/package/build.sh [PART...]   app, runtime; both without a PART
set -euo pipefail
cd "$(dirname "$0")/../.."

[ $# -gt 0 ] || set -- app runtime
for part in "$@"; do
  TEQUIO_PART=$part .venv/bin/pyinstaller --noconfirm --log-level WARN \
    --distpath build/package --workpath "build/package/work/$part" installer/package/tequio.spec
done
du -sm build/package/tequio*
