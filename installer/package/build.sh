#!/usr/bin/env bash
# Makes what a volunteer gets on a system like this one:
#   build/package/tequio           app, worker, seed, probe, and all commands that need no torch
#   build/package/tequio-runtime   trainer and evaluator, with the torch of this environment
#   build/package/installers       packages of the app for this system
# Usage: installer/package/build.sh [PART...]   app, runtime, installers; all without a PART
set -euo pipefail
cd "$(dirname "$0")/../.."
# The same commit and locks make the same bytes: installer/package/compare.py.
export PYTHONHASHSEED=0
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}  # 1980 without git

BIN=.venv/bin
[ -d "$BIN" ] || BIN=.venv/Scripts  # on Windows
BUILT=build/package

main() {
  [ $# -gt 0 ] || set -- app runtime installers
  local part
  for part in "$@"; do
    case $part in
      app) "$BIN/python" installer/package/icons.py "$BUILT/icons"; freeze app; strip_python
        du -sm "$BUILT/tequio" ;;
      runtime) freeze runtime; du -sm "$BUILT/tequio-runtime" ;;
      installers) make_installers ;;
      *) printf 'build.sh: unknown part %s: use app, runtime or installers\n' "$part" >&2; exit 2 ;;
    esac
  done
}

freeze() {
  TEQUIO_PART=$1 "$BIN/pyinstaller" --noconfirm --log-level WARN \
    --distpath "$BUILT" --workpath "$BUILT/work/$1" installer/package/tequio.spec
}

# Not the libraries that came with wheels, in folders named .libs: they were patched, and break.
strip_python() {
  command -v strip >/dev/null || return 0
  find "$BUILT/tequio" -name '*.so*' -type f -not -path '*.libs/*' -exec strip --strip-unneeded {} +
}

make_installers() {
  local version
  version=$("$BIN/python" -c 'from tequio_shared.version import BUILD; print(BUILD)')
  mkdir -p "$BUILT/installers"
  case $(uname -s) in
    Linux) installer/linux/build.sh "$version" ;;
    Darwin) installer/macos/build.sh "$version" ;;
  esac
  if command -v makensis >/dev/null; then
    installer/windows/build.sh "$version"
  else
    printf 'no installer for Windows: it needs makensis (nsis)\n'
  fi
  ls -l "$BUILT/installers"
}

main "$@"
