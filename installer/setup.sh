#!/usr/bin/env bash
# Makes .venv ready: what the system must bring, the pinned packages, the project itself.
# `setup.sh tools` brings only what the tests of the desktop and of the ledger's pages need besides:
# a screen without a monitor, a window manager, panels, a mouse, an accessibility bus, a browser, PostgreSQL, S3,
# and Go with the verifier of logs that its authors wrote.
# Runs from anywhere, asks nothing, and may be run again at any time. PYTHON names the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
VENV=.venv

main() {
  if [ "${1:-}" = tools ]; then
    bring_system_packages missing_tools
    bring_object_store
    touch "$VENV/.tools"
    return
  fi
  bring_system_packages missing_packages
  check_python
  make_venv
  install_packages
  touch "$VENV/.ready"  # the Makefile's stamp
}

# The Debian names of what this machine lacks, one a line.
missing_packages() {
  command -v "$PYTHON" >/dev/null || printf 'python3\n'
  "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || printf 'python3-venv\n'
  has_python_headers || printf 'python3-dev\n'  # fastecdsa is compiled here: it ships no wheel
  command -v gcc >/dev/null || printf 'gcc\nlibc6-dev\n'
  command -v make >/dev/null || printf 'make\n'
  has_gmp_headers || printf 'libgmp-dev\n'
  for_library libEGL.so.1 libegl1  # from here on: what Qt opens when a window is made
  for_library libxkbcommon-x11.so.0 libxkbcommon-x11-0
  for_library libxcb-cursor.so.0 libxcb-cursor0
  for_library libxcb-icccm.so.4 libxcb-icccm4
  for_library libxcb-keysyms.so.1 libxcb-keysyms1
  for_library libxcb-image.so.0 libxcb-image0
  for_library libxcb-render-util.so.0 libxcb-render-util0
  for_library libfontconfig.so.1 libfontconfig1
  for_library libdbus-1.so.3 libdbus-1-3
}

# The Debian names of the tools that this machine lacks, one a line.
missing_tools() {
  for_command Xvfb xvfb
  for_command openbox openbox
  for_command tint2 tint2
  for_command xfce4-panel xfce4-panel
  for_command xdotool xdotool
  for_command xprop x11-utils
  for_command import imagemagick
  for_command dbus-run-session dbus
  for_command chromium chromium
  has_postgresql || printf 'postgresql\n'
  for_command go golang-go
  [ -e /usr/share/gocode/src/golang.org/x/mod/sumdb/tlog ] || printf 'golang-golang-x-mod-dev\n'
  [ -e /usr/share/dbus-1/services/org.a11y.Bus.service ] || printf 'at-spi2-core\n'
}

has_postgresql() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null
}

# A server that speaks S3, for the tests of shared blobs. It wants older packages than we do, so it
# has an environment of its own.
bring_object_store() {
  [ -x "$VENV/s3/bin/moto_server" ] && return
  "$PYTHON" -m venv "$VENV/s3"
  "$VENV/s3/bin/python" -m pip --disable-pip-version-check --no-input --quiet install \
    'moto[server]==5.2.5'
}

for_library() {
  case $(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null) in
    *"$1"*) ;;
    *) printf '%s\n' "$2" ;;
  esac
}

for_command() {
  command -v "$1" >/dev/null || printf '%s\n' "$2"
}

has_python_headers() {
  "$PYTHON" - 2>/dev/null <<'PY'
import pathlib, sys, sysconfig
sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())
PY
}

has_gmp_headers() {
  printf '#include <gmp.h>\n' | gcc -E - >/dev/null 2>&1
}

bring_system_packages() {
  local missing
  missing=$("$1" | paste -sd ' ' -)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    printf 'Tequio needs system packages first. Run this, then the same command again:\n' >&2
    printf '  sudo apt-get install -y %s\n' "$missing" >&2
    exit 1
  fi
  printf 'installing system packages: %s\n' "$missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086  # a list of names, split on purpose
  apt-get install -y -qq --no-install-recommends $missing
}

check_python() {
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' && return
  printf '%s is %s; Tequio needs Python 3.11 or later (make setup PYTHON=python3.12)\n' \
    "$PYTHON" "$("$PYTHON" --version 2>&1)" >&2
  exit 1
}

# A folder that was moved, or whose interpreter is gone, is built anew.
make_venv() {
  "$VENV/bin/python" -m pip --version >/dev/null 2>&1 && return
  "$PYTHON" -m venv --clear "$VENV"
}

# Three steps. torch comes first and without a hash: a build for another device (CPU, CUDA, ROCm)
# is another file under the same version, so no one list of hashes fits every machine, and any other
# version would bring another device's packages with it. Everything else must match the lock's hashes.
# The project comes last, as a link to this folder.
install_packages() {
  pip install "$(sed -nE 's/.*"(torch==[^"]+)".*/\1/p' pyproject.toml)"
  pip install --require-hashes --no-deps --use-pep517 --requirement requirements.lock
  pip install --no-build-isolation --no-deps --editable .
  pip check
}

pip() {
  local command=$1
  shift
  "$VENV/bin/python" -m pip --disable-pip-version-check --no-input --quiet "$command" "$@"
}

main "$@"
