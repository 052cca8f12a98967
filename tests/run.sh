#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test but the slow ones. Works from any folder.
# With CI set in the environment, compiler warnings are errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./cmake/install-dependencies.sh
cmake --preset release -DHEDDLE_WERROR="$([[ -n ${CI:-} ]] && echo ON || echo OFF)"
cmake --build --preset release --parallel "$(nproc)"
ctest --preset release --label-exclude slow --parallel "$(nproc)"
