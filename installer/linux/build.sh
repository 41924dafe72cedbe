#!/usr/bin/env bash
# Makes the Linux packages of build/package/tequio, those that this system has the tools for:
#   tequio_VERSION_ARCH.deb                 dpkg-deb and dpkg-shlibdeps (dpkg-dev)
#   tequio-VERSION-1.ARCH.rpm               rpmbuild (rpm)
#   tequio-VERSION-linux-ARCH.tar.xz        for one user, without root: install.sh inside
# Usage: installer/linux/build.sh VERSION   after installer/package/build.sh app
set -euo pipefail
cd "$(dirname "$0")/../.."

VERSION=$1
HERE=installer/linux
BUILT=$PWD/build/package
WORK=$PWD/build/work/linux
OUT=$BUILT/installers
ROOT=$WORK/root
MACHINE=$(uname -m)
SUMMARY="Lend idle GPUs to train open language models together"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

main() {
  [ -x "$BUILT/tequio/tequio" ] || { echo "no $BUILT/tequio: run installer/package/build.sh app" >&2; exit 1; }
  rm -rf "$WORK"
  mkdir -p "$WORK" "$OUT"
  stage
  needed_libraries > "$WORK/libraries"
  make_tarball
  if has dpkg-deb && has dpkg-shlibdeps; then make_deb; else skip .deb dpkg-dev; fi
  if has rpmbuild; then make_rpm; else skip .rpm rpm; fi
}

has() { command -v "$1" >/dev/null; }
skip() { printf 'no %s: it needs %s\n' "$1" "$2"; }

# The files as they lie on a system; the app's own are links to those of the build.
stage() {
  mkdir -p "$ROOT/usr/lib" "$ROOT/usr/bin" "$ROOT/usr/share/doc/tequio"
  cp -al "$BUILT/tequio" "$ROOT/usr/lib/tequio"
  ln -s ../lib/tequio/tequio "$ROOT/usr/bin/tequio"
  stage_desktop "$ROOT/usr/share"
  install -m 644 "$HERE/copyright" "$ROOT/usr/share/doc/tequio/copyright"
}

stage_desktop() {
  local size
  install -Dm 644 -t "$1/applications" "$HERE/tequio.desktop"
  install -d "$1/metainfo"
  bash "$HERE/metainfo.sh" "$VERSION" "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)" "${TEQUIO_PROJECT_URL:-}" \
    > "$1/metainfo/org.tequio.app.metainfo.xml"
  for size in "$BUILT"/icons/*x*/; do
    install -Dm 644 -t "$1/icons/hicolor/$(basename "$size")/apps" "$size/tequio.png"
  done
  install -Dm 644 -t "$1/icons/hicolor/scalable/apps" "$BUILT/icons/tequio.svg"
}

binaries() { find "$ROOT/usr/lib/tequio" -type f \( -name '*.so' -o -name '*.so.*' -o -name tequio \); }

# The libraries of the system that the app needs, by their names in the files; glibc's not.
needed_libraries() {
  local inside
  inside=$(find "$ROOT/usr/lib/tequio" -name '*.so*' -printf '%f\n' | sort -u)
  binaries | xargs objdump -p 2>/dev/null | awk '$1 == "NEEDED" { print $2 }' | sort -u |
    grep -vxF "$inside" | grep -vE '^(libc|libm|libdl|libresolv|librt|libpthread|libutil|ld-linux.*)\.so'
}

make_tarball() {
  local name=tequio-$VERSION-linux-$MACHINE
  mkdir -p "$WORK/$name"
  cp -al "$BUILT/tequio" "$WORK/$name/app"
  stage_desktop "$WORK/$name/share"
  install -m 755 -t "$WORK/$name" "$HERE/install.sh" "$HERE/uninstall.sh"
  cp "$WORK/libraries" "$WORK/$name/libraries"
  tar -C "$WORK" --owner=0 --group=0 --numeric-owner --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
    -cf - "$name" | xz -T0 -2 > "$OUT/$name.tar.xz"
}

make_deb() {
  local arch depends inside
  arch=$(dpkg --print-architecture)
  mkdir -p "$WORK/debian" "$ROOT/DEBIAN"
  printf 'Source: tequio\n\nPackage: tequio\nArchitecture: any\nDescription: x\n' > "$WORK/debian/control"
  # Libraries of this system that are inside are no dependencies.
  mapfile -t inside < <(find "$ROOT/usr/lib/tequio/_internal" -maxdepth 1 -name 'lib*.so*' -printf '*/%f\n' |
    xargs dpkg -S 2>/dev/null | sed 's/^\([^:]*\):.*/-x\1/' | sort -u)
  depends=$(cd "$WORK" && binaries | xargs dpkg-shlibdeps -O --ignore-missing-info "${inside[@]}" \
    -l"$ROOT/usr/lib/tequio/_internal" 2>"$WORK/shlibdeps.log" | sed -n 's/^shlibs:Depends=//p')
  cat > "$ROOT/DEBIAN/control" <<CONTROL
Package: tequio
Version: $VERSION
Architecture: $arch
Section: science
Priority: optional
Maintainer: Tequio contributors
Installed-Size: $(find "$ROOT/usr" -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
Depends: $depends
Recommends: desktop-file-utils, xdg-utils, fonts-dejavu-core | fonts-noto-core
Suggests: gnome-shell-extension-appindicator
Description: $SUMMARY
 The app lends this computer's graphics card to the joint training of open
 language models while nobody uses it, and says at any time what it does and
 why. The command tequio does the same without a window, verifies networks and
 competitions, and runs seeds.
 .
 The runtime that trains is fetched at the first start.
CONTROL
  (cd "$ROOT" && find usr -type f -exec md5sum {} + > DEBIAN/md5sums)
  dpkg-deb --root-owner-group -Zzstd -z9 --build "$ROOT" "$OUT/tequio_${VERSION}_$arch.deb" >/dev/null
  rm -r "$ROOT/DEBIAN"
}

make_rpm() {
  { sed "s/@VERSION@/$VERSION/" "$HERE/tequio.spec.in"
    printf '\n%%changelog\n'; } > "$WORK/tequio.spec"
  sed -i "/^@REQUIRES@/{
    r /dev/stdin
    d
  }" "$WORK/tequio.spec" < <(sed 's/.*/Requires: &()(64bit)/' "$WORK/libraries")
  rpmbuild -bb --quiet --target "$MACHINE" --define "_topdir $WORK/rpm" --define "_rpmdir $OUT" \
    --define '_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
    --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' --define '_buildhost tequio' \
    --define "staged $ROOT" "$WORK/tequio.spec"
}

main
