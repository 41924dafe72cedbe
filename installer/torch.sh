#!/usr/bin/env bash
# Prints which lock torch is installed from: installer/torch.sh PYTHON
# The declared CPU build where pip's configuration offers it, else the package registry's. pip would not choose so by itself:
# a file in a folder announces no hash, and pip ranks it below one whose index does, however large that one is.
set -euo pipefail

locks=$(cd "$(dirname "$0")/locks" && pwd)
version=$(sed -nE 's/^torch==([^ ]+).*/\1/p' "$locks/torch-cpu.lock")
# Read as a whole: with `grep -q` pip could die of the closed pipe.
offered=$("$1" -m pip --disable-pip-version-check --no-input index versions torch 2>/dev/null || true)
if printf '%s' "$offered" | tr -s ', ' '\n' | grep --line-regexp --fixed-strings --quiet "$version"; then
  printf '%s/torch-cpu.lock\n' "$locks"
else
  printf '%s/torch.lock\n' "$locks"
fi
