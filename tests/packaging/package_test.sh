#!/usr/bin/env bash
# package_test.sh CMAKE BUILD PREFIX COMPILER: cpack makes Debian packages whose programs run when they are unpacked.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cpack=$(dirname "$cmake")/cpack
for program in "$cpack" dpkg-deb dpkg-shlibdeps; do
  command -v "$program" > /dev/null || { echo "skipped: no $program"; exit 0; }
done

cd "$place"
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$place/packages" -D CPACK_COMPONENTS_ALL=tools \
  > "$place/log" 2>&1 || fail "$(cat "$place/log")"
package=$(echo "$place"/packages/heddle_*.deb)
[[ -f $package ]] || fail "cpack made no heddle package: $(ls "$place/packages")"
depends=$(dpkg-deb -f "$package" Depends)
for library in libc6 libboost-program-options libxxhash0 libutf8proc zlib1g; do
  [[ $depends == *$library* ]] || fail "$package does not depend on $library: $depends"
done
[[ $depends != *mpi* ]] || fail "$package depends on MPI, which one process does not need: $depends"
dpkg-deb -x "$package" "$place/unpacked"
check_tools "$place/unpacked/usr"
