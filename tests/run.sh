#!/usr/bin/env bash
# Installs what is missing, builds, runs every test but those labelled slow, thorough or processors, and says what was skipped.
# Works from any folder.
# With CI set in the environment, compiler warnings are errors, and so is a skip that tests/expected_skips does not have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./cmake/install-dependencies.sh
generator=()  # a build folder keeps the one that it was made with
if [[ ! -e build/release/CMakeCache.txt ]] && command -v ninja >/dev/null; then
  generator=(-G Ninja)
fi
cmake --preset release "${generator[@]}" -DHEDDLE_WERROR="$([[ -n ${CI:-} ]] && echo ON || echo OFF)"
cmake --build --preset release --parallel "$(nproc)"
status=0
# One more than there are processors, as tests of signals and disks wait for other processes much of their time.
ctest --preset release --label-exclude '^(slow|thorough|processors)$' --parallel $(($(nproc) + 1)) || status=$?
./tests/skips.sh build/release/Testing/Temporary/LastTest.log ${CI:+tests/expected_skips} || status=1
exit "$status"
