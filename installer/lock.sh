#!/usr/bin/env bash
# Writes requirements.lock anew from pyproject.toml: every package of the `dev` extra, for every
# platform, with the hashes of all its files. Pins that still fit are kept; pass --upgrade (or
# --upgrade-package NAME) to move them. torch and its device packages stay out: see setup.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check uv

compile() {
  "$scratch/venv/bin/uv" pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
    --no-config --quiet --no-annotate --custom-compile-command "make lock" "$@"
}

cp requirements.lock "$scratch/lock"
compile --no-header --output-file "$scratch/names" "$@"
mapfile -t device_packages < <(
  grep -v '^nvidia-ml-py==' "$scratch/names" |  # no device package: it talks to the driver
    sed -nE 's/^(torch|triton|(cuda|nvidia)-[a-z0-9-]+)==.*/--no-emit-package=\1/p'
)
compile --generate-hashes "${device_packages[@]}" --output-file "$scratch/lock" "$@"
cp "$scratch/lock" requirements.lock
