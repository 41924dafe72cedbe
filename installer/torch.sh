#!/usr/bin/env bash
# Prints which lock torch is installed from: installer/torch.sh PYTHON
# The declared CPU build where pip's configuration offers it, else the package registry's. pip by itself would choose
# the registry's: a file in a folder announces no hash, and ranks below one whose index announces an accepted one.
set -euo pipefail

locks=$(cd "$(dirname "$0")/locks" && pwd)
version=$(sed -nE 's/^torch==([^ ]+).*/\1/p' "$locks/torch-cpu.lock")
offered=$("$1" -m pip --disable-pip-version-check --no-input index versions torch 2>/dev/null |
  sed -n 's/^Available versions: //p' | tr -d ' ') || true
case ",$offered," in
  *",$version,"*) printf '%s/torch-cpu.lock\n' "$locks" ;;
  *) printf '%s/torch.lock\n' "$locks" ;;
esac
