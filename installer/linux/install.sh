#!/bin/sh
# Installs Tequio for you alone, without root:
#   ~/.local/lib/tequio     the program
#   ~/.local/bin/tequio     the command
#   ~/.local/share          menu entry, icons, and the entry that opens tequio: links
# Run it again from a newer version to update. It needs no network and changes nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
lib=$HOME/.local/lib/tequio
command=$HOME/.local/bin/tequio
data=${XDG_DATA_HOME:-$HOME/.local/share}
config=${XDG_CONFIG_HOME:-$HOME/.config}
entry=$data/applications/tequio.desktop

fail() { printf 'install.sh: %s\n' "$1" >&2; exit 1; }

[ -x "$here/app/tequio" ] || fail "$here/app/tequio is missing: unpack the whole archive, and run its install.sh"
if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ]; then
  fail "run this without sudo: it installs Tequio for one user"
fi
case $lib$data in
  *[\"\`\$\\%]*) fail "the path of your home folder ($HOME) has a character that a menu entry cannot name" ;;
esac
if [ -e "$command" ] || [ -L "$command" ]; then
  [ "$(readlink "$command")" = "$lib/tequio" ] ||
    fail "$command is another program: rename or remove it, and run this again"
fi
# Without links, as the system names programs that run.
physical=$(readlink -m "$lib")
for process in /proc/[0-9]*; do
  case $(readlink "$process/exe" 2>/dev/null || true) in
    "$physical"/*) fail "Tequio is running: choose Quit in its tray menu (or end the worker), and run this again" ;;
  esac
done

mkdir -p "$HOME/.local/lib" "$HOME/.local/bin" "$data" "$config"
rm -rf "$lib.new"
cp -R "$here/app" "$lib.new"
cp "$here/uninstall.sh" "$lib.new/uninstall.sh"
"$lib.new/tequio" --version >/dev/null || fail "the program does not start here: see the message above"
rm -rf "$lib"
mv "$lib.new" "$lib"
ln -sf "$lib/tequio" "$command"

cp -R "$here/share/." "$data/"
# In quotes only where the entry needs them: xdg-open, which browsers ask, finds no program in quotes.
program=$lib/tequio
case $lib in
  *[[:space:]\'\<\>\~\|\&\;\*\?\#\(\)]*) program="\"$program\"" ;;
esac
named=$(printf '%s' "$program" | sed 's/[|&]/\\&/g')
sed "s|^Exec=tequio|Exec=$named|; /^Exec=/a TryExec=$lib/tequio" \
  "$here/share/applications/tequio.desktop" > "$entry"
# Opens tequio: links, unless you chose another program for them.
list=$config/mimeapps.list
touch "$list"
if ! grep -q '^x-scheme-handler/tequio=' "$list"; then
  grep -qx '\[Default Applications\]' "$list" || printf '[Default Applications]\n' >> "$list"
  sed -i --follow-symlinks '0,/^\[Default Applications\]$/s||&\nx-scheme-handler/tequio=tequio.desktop;|' "$list"
fi
update-desktop-database "$data/applications" 2>/dev/null || true
gtk-update-icon-cache -q -t "$data/icons/hicolor" 2>/dev/null || true

printf 'Tequio %s is installed: start it from the menu, or with: tequio app\n' "$("$lib/tequio" --version)"
case :$PATH: in
  *":$HOME/.local/bin:"*) ;;
  *) printf 'The command tequio works after the next login, when %s is in PATH.\n' "$HOME/.local/bin" ;;
esac
# The app's windows need libraries that every desktop has; a server may lack them.
missing=$(for library in $(cat "$here/libraries"); do
  ldconfig -p 2>/dev/null | grep -qF "$library" || /sbin/ldconfig -p 2>/dev/null | grep -qF "$library" || printf ' %s' "$library"
done)
[ -z "$missing" ] || printf 'Windows cannot be shown until these libraries are installed:%s\n' "$missing"
printf 'To remove it: %s/uninstall.sh\n' "$lib"
