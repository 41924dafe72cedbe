#!/usr/bin/env bash
# Makes build/package/installers/Tequio-Setup-VERSION.exe of build/package/tequio, with makensis (nsis).
# Usage: installer/windows/build.sh VERSION   after installer/package/build.sh app, on Windows
# On another system it packs that system's programs, in build/package-test: enough to see that it compiles, and for tests.
set -euo pipefail
cd "$(dirname "$0")/../.."

built=$PWD/build/package
[ -d "$built/tequio" ] || { echo "no $built/tequio: run installer/package/build.sh app" >&2; exit 1; }
command -v makensis >/dev/null || { echo "no makensis: install nsis, and add its folder to PATH" >&2; exit 1; }
out=$built/installers options=()
[ "${OS:-}" = Windows_NT ] || { out=$PWD/build/package-test; options=(-DTEST); }
mkdir -p "$out"
makensis "${options[@]}" -V2 -NOCD -DVERSION="$1" -DFOLDER="$built/tequio" -DICONS="$built/icons" \
  -DOUT="$out/Tequio-Setup-$1.exe" installer/windows/tequio.nsi
