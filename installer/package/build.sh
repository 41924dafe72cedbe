#!/usr/bin/env bash
# Makes what a volunteer gets on a system like this one:
#   build/package/tequio           app, worker, seed, probe, and all commands that need no torch
#   build/package/tequio-runtime   trainer and evaluator, with the torch of this environment
#   build/package/installers       packages of the app for this system
# Usage: installer/package/build.sh [PART...]   app, runtime, installers; all three without a PART
# A PART runtime-NAME makes build/package/tequio-runtime-NAME, for another accelerator than this environment's (cuda, cpu;
# rocm and xpu once they have a lock): it fetches the build of torch that installer/locks/torch-NAME.lock names.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The same commit and locks make the same bytes: installer/package/compare.py.
export PYTHONHASHSEED=0
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}  # 1980 without git

BIN=.venv/bin
[ -d "$BIN" ] || BIN=.venv/Scripts  # on Windows
BUILT=build/package
WORK=build/work

main() {
  [ $# -gt 0 ] || set -- app runtime installers
  local part
  for part in "$@"; do
    case $part in
      app) "$BIN/python" installer/package/icons.py "$BUILT/icons"; freeze app; strip_python
        check_size tequio ;;
      runtime) freeze runtime; describe_runtime tequio-runtime ;;
      runtime-cpu | runtime-cuda | runtime-rocm | runtime-xpu) freeze_for "${part#runtime-}" ;;
      installers) make_installers ;;
      *) printf 'build.sh: unknown part %s: use app, runtime, runtime-NAME or installers\n' "$part" >&2; exit 2 ;;
    esac
  done
}

freeze() {
  TEQUIO_PART=$1 "$BIN/pyinstaller" --noconfirm --log-level WARN \
    --distpath "$BUILT" --workpath "$WORK/$1${2:-}" installer/package/tequio.spec
}

# A runtime with another build of torch than this environment's, which lies beside it and is found first.
freeze_for() {
  local lock=installer/locks/torch-$1.lock base=$PWD/$WORK/torch-$1 torch
  # PyInstaller keeps libraries in their packages' folders if these lie in a site-packages, and copies them to the top otherwise.
  torch=$(PYTHONUSERBASE=$base "$BIN/python" -c 'import site; print(site.getusersitepackages())')
  [ "$1" != cuda ] || lock=installer/locks/torch.lock  # the package registry's build for Linux
  if [ ! -f "$lock" ]; then
    printf 'build.sh: no %s: write into it the version and hashes of that build, which PyTorch'"'"'s own index has\n' "$lock" >&2
    exit 1
  fi
  if [ ! -f "$torch/.complete" ] || [ "$lock" -nt "$torch/.complete" ]; then
    rm -rf "$base"
    "$BIN/python" -m pip --disable-pip-version-check --no-input --quiet install --require-hashes --no-deps --no-compile \
      --only-binary :all: --target "$torch" --requirement "$lock"
    touch "$torch/.complete"
  fi
  PYTHONUSERBASE=$base TEQUIO_TORCH=$torch TEQUIO_FOLDER=tequio-runtime-$1 PYTHONPATH=$torch${PYTHONPATH:+:$PYTHONPATH} \
    freeze runtime "-$1"
  describe_runtime "tequio-runtime-$1"
}

# Which torch is inside: `tequio release add` is told the accelerator, and cannot see it.
describe_runtime() {
  printf '%s: %s\n' "$1" "$(basename "$BUILT/$1"/_internal/torch-*.dist-info .dist-info)"
  check_size "$1"
}

# Fails for a folder that is larger than it should be, or that has a file twice; on a system where nothing was measured
# yet (Windows, macOS), these are printed, and the build goes on.
check_size() {
  "$BIN/python" -I installer/package/sizes.py "$BUILT/$1"
}

# Not the libraries that came with wheels, in folders named .libs: they were patched, and break. On Linux alone: macOS
# has another strip, and runs no library that was changed after it was signed.
strip_python() {
  [ "$(uname -s)" = Linux ] && command -v strip >/dev/null || return 0
  find "$BUILT/tequio" -name '*.so*' -type f -not -path '*.libs/*' -exec strip --strip-unneeded {} +
}

make_installers() {
  local version
  version=$("$BIN/python" -c 'from tequio_shared.version import BUILD; print(BUILD)')
  mkdir -p "$BUILT/installers"
  case $(uname -s) in
    Linux)
      installer/linux/build.sh "$version"
      if command -v makensis >/dev/null; then
        installer/windows/build.sh "$version"  # for its tests
      else
        printf 'no installer for the tests of Windows: it needs makensis (nsis)\n'
      fi ;;
    Darwin) installer/macos/build.sh "$version" ;;
    *) installer/windows/build.sh "$version" ;;
  esac
  ls -l "$BUILT/installers"
}

main "$@"
