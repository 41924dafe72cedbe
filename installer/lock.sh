#!/usr/bin/env bash
# Writes every lock again from pyproject.toml, for every platform, with the hashes of all files:
#   requirements.lock            the `dev` extra: all programs, and what tests and checks need
#   installer/locks/PRODUCT.lock what one product needs, with the same versions: installer/install.sh
#   installer/locks/torch.lock   torch as the package registry has it, with the CUDA that it needs on Linux
#   installer/locks/build.lock   what builds the packages that have no wheel, and our own
#   installer/locks/s3.lock, helm.lock, load.lock, uv.lock   tools in an environment of their own
# torch-cpu.lock is kept by hand: only PyTorch's own index has that build.
# Pins that still fit are kept; pass --upgrade (or --upgrade-package NAME) to move them.
set -euo pipefail
cd "$(dirname "$0")/.."

LOCKS=installer/locks
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

main() {
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps \
    --requirement "$LOCKS/uv.lock"
  cat requirements.lock "$LOCKS/torch.lock" > "$scratch/all"
  compile "$scratch/all" pyproject.toml --extra dev "$@"
  packages other < "$scratch/all" > requirements.lock
  packages torch < "$scratch/all" > "$LOCKS/torch.lock"
  product ledger ledger
  product seed worker otlp
  product client client gguf s3 otlp private
  printf 'hatchling\neditables\nsetuptools\n' | pinned "$LOCKS/build.lock" -
  printf 'moto[server]==5.2.5\n' | compile "$LOCKS/s3.lock" - "$@"
  printf 'helm-python-sdk==0.2.2\nkubernetes-validate==1.37.0\n' | compile "$LOCKS/helm.lock" - "$@"
  printf 'locust>=2.40\n' | compile "$LOCKS/load.lock" - "$@"
  printf 'uv\n' | compile "$LOCKS/uv.lock" - "$@"
}

# product NAME EXTRA...: the lock of one product.
product() {
  local name=$1
  shift
  pinned "$scratch/product" pyproject.toml "${@/#/--extra=}"
  packages other < "$scratch/product" > "$LOCKS/$name.lock"
}

# With the versions and hashes of requirements.lock.
pinned() {
  cp "$scratch/all" "$1"
  compile "$@" --constraint "$scratch/all"
}

# compile LOCK SOURCE...: --config-file also keeps the user's own configuration of uv out.
compile() {
  "$scratch/venv/bin/uv" pip compile --config-file installer/uv.toml --quiet --universal \
    --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock" \
    --output-file "$@"
}

# Of a lock, torch and the packages of its device, or the others.
# nvidia-ml-py is an other one: it talks to the driver.
packages() {
  awk -v wanted="$1" '
    /^#/ { print; next }
    /^[a-z]/ { part = /^(torch==|triton==|cuda-|nvidia-)/ && !/^nvidia-ml-py/ ? "torch" : "other" }
    part == wanted { print }'
}

main "$@"
