#!/usr/bin/env bash
# Makes Tequio-Setup-VERSION.exe of build/package/tequio, with makensis (nsis).
# Usage: installer/windows/build.sh VERSION   after installer/package/build.sh app, on Windows
# On another system it packs that system's programs: enough to see that it compiles, and for tests.
set -euo pipefail
cd "$(dirname "$0")/../.."

built=$PWD/build/package
[ -d "$built/tequio" ] || { echo "no $built/tequio: run installer/package/build.sh app" >&2; exit 1; }
suffix='' options=()
[ "${OS:-}" = Windows_NT ] || { suffix=-test; options=(-DTEST); }
mkdir -p "$built/installers"
makensis "${options[@]}" -V2 -NOCD -DVERSION="$1" -DFOLDER="$built/tequio" -DICONS="$built/icons" \
  -DOUT="$built/installers/Tequio-Setup-$1$suffix.exe" installer/windows/tequio.nsi
