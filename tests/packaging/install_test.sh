#!/usr/bin/env bash
# install_test.sh CMAKE BUILD PREFIX COMPILER: an installed heddle runs, and another project builds with it by
# find_package and by pkg-config.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$cmake" --install "$build" --prefix "$place/root" > "$place/log" || fail "$(cat "$place/log")"
check_tools "$place/root"

# Without the HDF5 library: what only reads works, and what writes fails at once, in one line.
"$compiler" -shared -fPIC -x c++ - -o "$place/without_hdf5.so" <<'END'
#include <dlfcn.h>
#include <cstring>
extern "C" void* dlopen(const char* name, int flags) noexcept {
  using Function = void* (*)(const char*, int);
  const bool hidden = name != nullptr && std::strstr(name, "hdf5") != nullptr;
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, "dlopen"))(hidden ? "none.so" : name, flags);
}
END
root=$place/root
without() { LD_PRELOAD=$place/without_hdf5.so "$root/bin/$prefix$1" "${@:2}"; }
reason='cannot load the HDF5 library: none.so: cannot open shared object file: No such file or directory'
without inspect "$place/tokens.h5" | grep -q '^  text bytes  19$' || fail "a file is not read without the HDF5 library"
without tokenize --version | grep -qxF "HDF5: $reason" || fail "--version without the HDF5 library"
status=0
without pretrain --train "$place/tokens.h5" -o "$place/none.h5" 2> "$place/answer" || status=$?
[[ $status -eq 1 && $(tail -n 1 "$place/answer") == *"pretrain: $reason" && ! -e $place/none.h5 ]] ||
  fail "training without the HDF5 library ends with $status: $(cat "$place/answer")"

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
