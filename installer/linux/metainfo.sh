#!/usr/bin/env bash
# metainfo.sh VERSION DATE [URL]: prints what software shops show about the app.
# URL is the page of the repository that releases it, in which each version has a tag vVERSION. Without one there are no
# links and no pictures: the project has no other address of its own.
set -euo pipefail
version=$1 date=$2 url=${3:-}
described=$(cd "$(dirname "$0")" && pwd)/org.tequio.app.metainfo.xml

links() {
  [ -n "$url" ] || return 0
  if [[ ! $url =~ ^https://[a-zA-Z0-9.:-]+/[a-zA-Z0-9._~/-]+$ ]]; then
    printf 'metainfo.sh: invalid address %s: expected https://HOST/PATH\n' "$url" >&2
    exit 2
  fi
  printf '  <url type="%s">%s</url>\n' homepage "$url" bugtracker "$url/issues" vcs-browser "$url" \
    help "$url/blob/v$version/docs/install.md"
  pictures
}

pictures() {
  local raw=$url/raw/v$version/docs/pictures
  printf '  <screenshots>\n'
  picture "$raw/home-dark.png" ' type="default"' 'What this computer does, and why'
  picture "$raw/points-light.png" '' 'Points for verified work'
  picture "$raw/settings-light.png" '' 'When and how much to lend'
  printf '  </screenshots>\n'
}

picture() {
  printf '    <screenshot%s>\n      <caption>%s</caption>\n      <image type="source">%s</image>\n    </screenshot>\n' \
    "$2" "$3" "$1"
}

linked=$(links)
while IFS= read -r line; do
  [ "$line" != '  <content_rating type="oars-1.1"/>' ] || [ -z "$linked" ] || printf '%s\n' "$linked"
  line=${line//@VERSION@/$version}
  printf '%s\n' "${line//@DATE@/$date}"
done < "$described"
