#!/bin/sh
# Removes what install.sh installed. Your key and data stay, unless you say otherwise.
# Usage: uninstall.sh [--keep-data | --delete-data]   asks without an option
set -eu
lib=$HOME/.local/lib/tequio
command=$HOME/.local/bin/tequio
data=${XDG_DATA_HOME:-$HOME/.local/share}
config=${XDG_CONFIG_HOME:-$HOME/.config}

fail() { printf 'uninstall.sh: %s\n' "$1" >&2; exit 1; }

case ${1:-} in
  --keep-data) answer=n ;;
  --delete-data) answer=y ;;
  "") answer=ask ;;
  *) fail "unknown option $1: use --keep-data or --delete-data" ;;
esac
# Without links, as the system names programs that run.
physical=$(readlink -m "$lib") fetched=$(readlink -m "$data/tequio")
for process in /proc/[0-9]*; do
  case $(readlink "$process/exe" 2>/dev/null || true) in
    "$physical"/* | "$fetched"/*) fail "Tequio is running: choose Quit in its tray menu (or end the worker), and run this again" ;;
  esac
done
if [ "$answer" = ask ]; then
  printf 'Your key, points and settings are in %s and %s.\n' "$data/tequio" "$config/tequio"
  printf 'Without a backup (24 words or a file) a deleted key is lost, with its points.\n'
  printf 'Delete key and data, too? [y/N] '
  read -r answer || answer=n
fi

if [ "$(readlink "$command" 2>/dev/null)" = "$lib/tequio" ]; then rm "$command"; fi
rm -rf "$lib" "$lib.new"
rm -f "$data/applications/tequio.desktop" "$data/metainfo/org.tequio.app.metainfo.xml"
find "$data/icons/hicolor" -path '*/apps/tequio.*' -type f -delete 2>/dev/null || true
# Written by the app: its start at login, and what its updates and the runtime brought.
rm -f "$config/autostart/tequio.desktop" "$data/applications/tequio-link.desktop"
rm -rf "$data/tequio/app" "$data/tequio/runtime"
list=$config/mimeapps.list
ours='^x-scheme-handler/tequio=tequio\(-link\)\?\.desktop;\?$'
if grep -q "$ours" "$list" 2>/dev/null; then
  sed -i --follow-symlinks "\\|$ours|d" "$list"
  if [ ! -L "$list" ] && [ "$(cat "$list")" = '[Default Applications]' ]; then rm "$list"; fi
fi
update-desktop-database "$data/applications" 2>/dev/null || true
gtk-update-icon-cache -q -t "$data/icons/hicolor" 2>/dev/null || true

case $answer in
  y | Y | yes | Yes | s | S | sí | Sí)
    rm -rf "$data/tequio" "$config/tequio"
    printf 'Tequio, your key and its data are deleted. An entry named Tequio may remain in your keyring: delete it there.\n' ;;
  *)
    printf 'Tequio is removed. Your key and data stay in %s and %s.\n' "$data/tequio" "$config/tequio" ;;
esac
