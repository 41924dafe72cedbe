#!/usr/bin/env bash
# Installs one product in a folder of its own, every file by its hash:
#   installer/install.sh ledger|seed|client FOLDER
# Run again, it builds the folder again, so that nothing of an older version stays. PYTHON names the interpreter.
set -euo pipefail

PYTHON=${PYTHON:-python3}

main() {
  local product=${1:-} folder=${2:-} source lock
  source=$(cd "$(dirname "$0")/.." && pwd)
  lock=$source/installer/locks/$product.lock
  case $product in
    ledger | seed | client) ;;
    *) product= ;;
  esac
  if [ -z "$product" ] || [ -z "$folder" ]; then
    printf 'usage: %s ledger|seed|client FOLDER\n' "$0" >&2
    exit 2
  fi
  if [ -e "$folder" ] && [ ! -e "$folder/pyvenv.cfg" ] && [ -n "$(ls -A "$folder")" ]; then
    printf '%s holds files that no installation made: name another folder\n' "$folder" >&2
    exit 1
  fi
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  # Built outside the folder, which then holds the product alone.
  "$PYTHON" -m venv "$scratch/venv"
  pip "$scratch/venv" install --require-hashes --no-deps --only-binary :all: \
    --requirement "$source/installer/locks/build.lock"
  wheels --require-hashes --requirement "$lock"
  if [ "$product" = client ]; then
    wheels --require-hashes --requirement "$("$source/installer/torch.sh" "$scratch/venv/bin/python")"
  fi
  wheels "$source"
  "$PYTHON" -m venv --clear "$folder"
  pip "$folder" install --no-index --no-deps "$scratch"/wheels/*.whl
}

wheels() {
  pip "$scratch/venv" wheel --no-deps --no-build-isolation --use-pep517 \
    --wheel-dir "$scratch/wheels" "$@"
}

pip() {
  local venv=$1
  shift
  "$venv/bin/python" -m pip --disable-pip-version-check --no-input --quiet "$@"
}

main "$@"
