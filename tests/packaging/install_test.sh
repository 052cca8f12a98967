#!/usr/bin/env bash
# install_test.sh CMAKE BUILD PREFIX COMPILER: an installed heddle runs, and another project builds with it by
# find_package and by pkg-config.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$cmake" --install "$build" --prefix "$place/root" > "$place/log" || fail "$(cat "$place/log")"
check_tools "$place/root"

answer='3 3'
"$cmake" -S "$here/consumer" -B "$place/consumer" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$place/root" > "$place/log" 2>&1 || fail "$(cat "$place/log")"
"$cmake" --build "$place/consumer" > "$place/log" 2>&1 || fail "$(cat "$place/log")"
[[ $("$place/consumer/consumer") == "$answer" ]] || fail "the consumer says: $("$place/consumer/consumer")"

command -v pkg-config > /dev/null || { echo "skipped: no pkg-config"; exit 0; }
PKG_CONFIG_PATH=$(dirname "$(find "$place/root" -name heddle.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$compiler" "$here/consumer/main.cpp" -o "$place/by_hand" $(pkg-config --cflags --libs heddle)
[[ $("$place/by_hand") == "$answer" ]] || fail "built by pkg-config it says: $("$place/by_hand")"
