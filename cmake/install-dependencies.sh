#!/usr/bin/env bash
# Installs what heddle needs to be built and tested on Debian or Ubuntu. Asks nothing; does nothing, without touching
# the network, when everything is there.
set -euo pipefail

packages=(
  g++ cmake make
  libopenblas-dev libhdf5-dev libboost-program-options-dev libboost-serialization-dev
  librdkit-dev nlohmann-json3-dev libxxhash-dev libutf8proc-dev zlib1g-dev libfmt-dev libcairo2-dev libpango1.0-dev pkg-config
  libginac-dev libflint-dev libmpfr-dev libgmp-dev coinor-csdp
  doctest-dev hdf5-tools scdoc
)

fail() {
  printf 'install-dependencies: %s\n' "$*" >&2
  exit 1
}

command -v apt-get >/dev/null ||
  fail "this system has no apt-get; install the counterparts of: ${packages[*]}"

packages+=("$@")  # what the caller wants besides

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  sudo -n true 2>/dev/null ||
    fail "must be root, or be allowed sudo without a password, to run: apt-get install ${missing[*]}"
  as_root=(sudo -n)
fi

printf 'install-dependencies: installing %s\n' "${missing[*]}" >&2
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" >&2
}
# Package lists may be absent or too old to find the packages in.
apt_get update || fail "apt-get update failed; is the network there?"
apt_get install --no-install-recommends "${missing[@]}" || fail "apt-get could not install ${missing[*]}"
