#!/usr/bin/env bash
# Makes what a volunteer gets on a system like this one, without an installer around it:
#   build/package/tequio           app, worker, seed, probe, and all commands that need no torch
#   build/package/tequio-runtime   trainer and evaluator, with the torch of this environment
# Usage: installer/package/build.sh [PART...]   app, runtime; both without a PART
set -euo pipefail
cd "$(dirname "$0")/../.."
# The same commit and locks make the same bytes: installer/package/compare.py.
export PYTHONHASHSEED=0
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}  # 1980 without git

[ $# -gt 0 ] || set -- app runtime
for part in "$@"; do
  TEQUIO_PART=$part .venv/bin/pyinstaller --noconfirm --log-level WARN \
    --distpath build/package --workpath "build/package/work/$part" installer/package/tequio.spec
done
# Not the libraries that came with wheels, in folders named .libs: they were patched, and break.
if command -v strip >/dev/null && [ -d build/package/tequio ]; then
  find build/package/tequio -name '*.so*' -type f -not -path '*.libs/*' -exec strip --strip-unneeded {} +
fi
du -sm build/package/tequio*
