#!/usr/bin/env bash
# Makes tequio-VERSION-macos-ARCH.dmg of build/package/Tequio.app. Not run on a Mac yet.
# Usage: installer/macos/build.sh VERSION   after installer/package/build.sh app, on macOS
#
# Without a signature macOS asks for consent in System Settings at the first start. To sign, name a
# certificate "Developer ID Application" of the keychain, and to notarise, a profile that was stored
# with `xcrun notarytool store-credentials PROFILE`:
#   TEQUIO_SIGN_AS="Developer ID Application: …" TEQUIO_NOTARY_PROFILE=PROFILE make package
set -euo pipefail
cd "$(dirname "$0")/../.."

app=build/package/Tequio.app
image=build/package/installers/tequio-$1-macos-$(uname -m).dmg
[ -d "$app" ] || { echo "no $app: run installer/package/build.sh app" >&2; exit 1; }

if [ -n "${TEQUIO_SIGN_AS:-}" ]; then
  # From the inside out: a signature covers those within it.
  find "$app/Contents" -type f \( -name '*.so' -o -name '*.dylib' -o -perm -u+x \) -print0 |
    xargs -0 codesign --force --timestamp --options runtime \
      --entitlements installer/macos/entitlements.plist --sign "$TEQUIO_SIGN_AS"
  codesign --force --timestamp --options runtime \
    --entitlements installer/macos/entitlements.plist --sign "$TEQUIO_SIGN_AS" "$app"
  codesign --verify --deep --strict "$app"
fi

folder=build/work/dmg
rm -rf "$folder" "$image"
mkdir -p "$folder"
cp -R "$app" "$folder/"
ln -s /Applications "$folder/Applications"
hdiutil create -quiet -volname Tequio -srcfolder "$folder" -format UDZO "$image"

if [ -n "${TEQUIO_SIGN_AS:-}" ]; then
  codesign --timestamp --sign "$TEQUIO_SIGN_AS" "$image"
fi
if [ -n "${TEQUIO_NOTARY_PROFILE:-}" ]; then
  xcrun notarytool submit "$image" --keychain-profile "$TEQUIO_NOTARY_PROFILE" --wait
  xcrun stapler staple "$image"
fi
