#!/usr/bin/env bash
# Makes .venv ready: what the system must bring, the pinned packages, the project itself.
# `setup.sh tools` brings only what the tests of the desktop and of the ledger's pages need besides:
# a screen without a monitor, a window manager, panels, a mouse, an accessibility bus, a browser, PostgreSQL, S3,
# Helm's library with the schemas of Kubernetes, and Go with the verifier of logs that its authors wrote.
# `setup.sh load` brings locust, for bench/load.py, in an environment of its own: it wants Flask and gevent.
# `setup.sh missing` prints the Debian names of all that this machine lacks, and installs nothing; `setup.sh missing package`
# also those of what makes the packages and tests them on bare systems and under Wine (make package, make test-package).
# Runs from anywhere, asks nothing, and may be run again at any time. PYTHON names the interpreter.
# On macOS, Homebrew has what is missing; on Windows (in Git's bash) it makes .venv, and looks for nothing else.
# Qt needs nothing besides on either; the tools are Linux's alone.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
VENV=.venv
BIN=$VENV/bin
case $(uname -s) in MINGW* | MSYS*) BIN=$VENV/Scripts ;; esac
BY_HASH=(--require-hashes --no-deps --no-build-isolation)

main() {
  case ${1:-} in
    tools)
      if is_macos; then
        printf 'The tests of the desktop, PostgreSQL and S3 need Linux; run others by name with pytest\n' >&2
        exit 1
      fi
      bring_system_packages missing_tools
      bring_tool s3
      bring_tool helm
      touch "$VENV/.tools"
      return
      ;;
    load)
      "$PYTHON" -m venv "$VENV/load"
      "$VENV/load/bin/python" -m pip --disable-pip-version-check --no-input --quiet install \
        --require-hashes --no-deps --only-binary :all: --requirement installer/locks/load.lock
      return
      ;;
    missing)
      missing_packages
      missing_tools
      [ "${2:-}" != package ] || missing_package_tools
      return
      ;;
  esac
  is_windows || bring_system_packages missing_packages
  check_python
  make_venv
  install_packages
  touch "$VENV/.ready"  # the Makefile's stamp
}

# The Debian or Homebrew names of what this machine lacks, one a line.
missing_packages() {
  command -v make >/dev/null || printf 'make\n'
  if is_macos; then
    # The interpreter of Apple's developer tools is older than Tequio needs.
    is_recent "$PYTHON" || printf 'python@3.12\n'
    return
  fi
  command -v "$PYTHON" >/dev/null || printf 'python3\n'
  "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || printf 'python3-venv\n'
  for_library libglib-2.0.so.0 libglib2.0-0  # from here on: what Qt loads, or opens when a window is made
  for_library libGL.so.1 libgl1
  for_library libEGL.so.1 libegl1
  for_library libxkbcommon-x11.so.0 libxkbcommon-x11-0
  for_library libxcb-cursor.so.0 libxcb-cursor0
  for_library libxcb-icccm.so.4 libxcb-icccm4
  for_library libxcb-keysyms.so.1 libxcb-keysyms1
  for_library libxcb-image.so.0 libxcb-image0
  for_library libxcb-render-util.so.0 libxcb-render-util0
  for_library libxcb-shape.so.0 libxcb-shape0
  for_library libwayland-cursor.so.0 libwayland-cursor0
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
  # Home routers, which tests as root build of network namespaces.
  for_command nft nftables
  for_command ip iproute2
  has_postgresql || printf 'postgresql\n'
  for_command go golang-go
  [ -e /usr/share/gocode/src/golang.org/x/mod/sumdb/tlog ] || printf 'golang-golang-x-mod-dev\n'
  [ -e /usr/share/dbus-1/services/org.a11y.Bus.service ] || printf 'at-spi2-core\n'
}

# The Debian names of what makes packages and tests them, one a line.
missing_package_tools() {
  for_command dpkg-shlibdeps dpkg-dev
  for_command objdump binutils
  for_command rpmbuild rpm
  for_command makensis nsis
  for_command debootstrap debootstrap
  for_command unshare util-linux
  for_command desktop-file-validate desktop-file-utils
  for_command appstreamcli appstream
  [ -e /usr/lib/wine/wine64 ] || for_command wine64 wine64
  # With which debootstrap checks Debian's systems on another distribution.
  [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || printf 'debian-archive-keyring\n'
}

has_postgresql() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null
}

# bring_tool NAME: a server that speaks S3 (s3), and what renders and checks the Helm chart (helm). Both want other
# packages than we do, so each has an environment of its own.
bring_tool() {
  local place=$VENV/$1 lock=installer/locks/$1.lock
  cmp --silent "$lock" "$place/made.lock" && return
  "$PYTHON" -m venv --clear "$place"
  "$place/bin/python" -m pip --disable-pip-version-check --no-input --quiet install \
    --require-hashes --no-deps --only-binary :all: --requirement "$lock"
  cp "$lock" "$place/made.lock"
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

bring_system_packages() {
  local missing
  missing=$("$1" | paste -sd ' ' -)
  [ -n "$missing" ] || return 0
  if is_macos; then
    printf 'Tequio needs packages of Homebrew (https://brew.sh) first. Run this:\n' >&2
    printf '  brew install %s\n' "$missing" >&2
    printf 'Then: make setup PYTHON=python3.12\n' >&2
    exit 1
  fi
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

is_macos() {
  [ "$(uname -s)" = Darwin ]
}

is_windows() {
  [ "$BIN" = "$VENV/Scripts" ]
}

is_recent() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

check_python() {
  is_recent "$PYTHON" && return
  printf '%s is %s; Tequio needs Python 3.11 or later (make setup PYTHON=python3.12)\n' \
    "$PYTHON" "$("$PYTHON" --version 2>&1)" >&2
  exit 1
}

# Again, too, where the interpreter is gone or the folder was moved: scripts begin with the interpreter's path.
make_venv() {
  "$BIN/pip" --version >/dev/null 2>&1 && return
  "$PYTHON" -m venv --clear "$VENV"
}

# Every file by its hash, and nothing that is not in a lock. What builds packages comes first: pip would
# fetch its own, without hashes. The project comes last, as a link to this folder. All of it is compiled to bytecode here:
# a trainer in its sandbox may not write any, and would compile torch at each start.
install_packages() {
  pip install "${BY_HASH[@]}" --only-binary :all: --requirement installer/locks/build.lock --requirement installer/locks/uv.lock
  # By pip, which knows where this computer has the build for its device.
  pip install "${BY_HASH[@]}" --requirement "$(installer/torch.sh "$BIN/python")"
  install_requirements
  pip install --no-build-isolation --no-deps --editable .
  check_packages
}

# uv does in seconds what takes pip a minute and a half. It does not read pip's configuration, and so may not reach
# the mirror that this computer has to use: then pip does it.
install_requirements() {
  "$BIN/uv" pip install "${BY_HASH[@]}" --quiet --no-config --compile-bytecode --python "$BIN/python" \
    --requirement requirements.lock && return
  printf 'uv could not install the packages: pip tries, which takes longer\n' >&2
  pip install "${BY_HASH[@]}" --use-pep517 --requirement requirements.lock
}

# libp2p alone lacks packages that it names, on purpose: installer/uv.toml.
check_packages() {
  local problems
  problems=$({ pip check || true; } | { grep -v -e '^libp2p [^ ]* requires .*, which is not installed\.$' -e '^No broken' || true; })
  [ -z "$problems" ] && return
  printf '%s\n' "$problems" >&2
  exit 1
}

pip() {
  local command=$1
  shift
  "$BIN/python" -m pip --disable-pip-version-check --no-input --quiet "$command" "$@"
}

main "$@"
