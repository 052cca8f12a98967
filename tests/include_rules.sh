#!/usr/bin/env bash
# Who may include whom. CMake's targets enforce most of it; this finds what they cannot see.
#
#   include_rules.sh [ROOT]         prints each violation as file:line: text, and fails if there is one
#   include_rules.sh --self-test    plants each kind of violation and fails if one is not found
set -euo pipefail

# What each folder of libcore may include, itself aside.
declare -A sees=(
  [base]=""
  [tensor]="base"
  [autograd]="base tensor"
  [ops]="base tensor autograd"
  [attention]="base tensor autograd ops"
  [nn]="base tensor autograd ops attention"
  [heads]="base tensor autograd ops attention nn"
  [models]="base tensor autograd ops attention nn heads text data"
  [text]="base tensor"
  [parallel]="base tensor"
  [data]="base tensor text"
  [metrics]="base text"
  [training]="base tensor autograd ops attention nn heads models text data metrics parallel"
  [decoding]="base tensor autograd ops attention nn heads models text data"
  [analysis]="base tensor autograd ops attention nn heads models text data decoding"
)

violations=0

# refuse RULE PATTERN PATH... [-- EXCEPT]: reports lines that match under the paths, but for those that EXCEPT matches.
refuse() {
  local rule=$1 pattern=$2 paths=() except='^$' lines
  shift 2
  while [[ $# -gt 0 && $1 != -- ]]; do paths+=("$1"); shift; done
  [[ $# -gt 0 ]] && except=$2
  lines=$(grep -rnIE "$pattern" "${paths[@]}" 2>/dev/null | grep -vE "$except" || true)
  report "$rule" "$lines"
}

report() {
  [[ -z $2 ]] && return
  violations=$((violations + 1))
  printf '%s:\n%s\n' "$1" "$2"
}

check() {
  cd "$1"
  local folder allowed
  refuse "libcore knows no Boost, HDF5 or JSON" '#include *[<"](boost/|hdf5|H5|nlohmann/)' libcore
  refuse "libcore knows no command line" '\bargv\b' libcore -- '^[^:]*\.py:'
  refuse "libcore knows neither formats nor tools" '#include *[<"]heddle/(formats|cli)/' libcore
  refuse "formats know no tools" '#include *[<"]heddle/cli/' formats
  refuse "headers are named from heddle/ on" '#include *"(\.|[^/"]*")' libcore formats tools/cli
  refuse "only libcore/tensor/blas.cpp includes BLAS or oneDNN" '#include *[<"](cblas|openblas|dnnl|oneapi/dnnl)' \
    libcore formats tools -- '^libcore/tensor/blas\.cpp:'
  refuse "only libcore/parallel includes MPI" '#include *[<"]mpi\.h' libcore formats tools -- '^libcore/parallel/'
  for folder in libcore/*/; do
    folder=$(basename "$folder")
    [[ -v sees[$folder] ]] || { report "a folder that has no rule here" "libcore/$folder"; continue; }
    allowed="$folder${sees[$folder]:+ ${sees[$folder]}}"
    refuse "libcore/$folder may include only: $allowed" '#include *[<"]heddle/' "libcore/$folder" \
      -- "[<\"]heddle/(${allowed// /|})/"
  done
  refuse "unfinished work" '\b(TODO|FIXME)\b' CMakeLists.txt cmake libcore formats tools tests man examples \
    -- '^tests/include_rules\.sh:'
  return $((violations > 0))
}

# plant PATH LINE: a copy of the clean tree with the line added must fail, and name the file.
plant() {
  local tree=$scratch/planted output
  rm -rf "$tree"
  cp -r "$scratch/clean" "$tree"
  mkdir -p "$(dirname "$tree/$1")"
  printf '%s\n' "$2" >>"$tree/$1"
  if output=$("$self" "$tree"); then
    printf 'not found: %s in %s\n' "$2" "$1"
    failures=$((failures + 1))
  elif ! grep -qF "$1" <<<"$output" && ! grep -qF "$(dirname "$1")" <<<"$output"; then
    printf 'not named: %s in %s, only: %s\n' "$2" "$1" "$output"
    failures=$((failures + 1))
  fi
}

self_test() {
  self=$(realpath "${BASH_SOURCE[0]}")
  scratch=$(mktemp -d)
  failures=0
  trap 'rm -rf "$scratch"' EXIT
  mkdir -p "$scratch/clean"/{libcore/{base,tensor,ops,text,data},formats,tools,tests,man,cmake,examples}
  printf '#include <cblas.h>\n#include "heddle/base/error.hpp"\n' >"$scratch/clean/libcore/tensor/blas.cpp"
  printf '#include <hdf5.h>\n#include "heddle/tensor/tensor.hpp"\n' >"$scratch/clean/formats/model.cpp"
  "$self" "$scratch/clean" || { echo "the clean tree fails"; failures=1; }

  plant libcore/ops/a.cpp '#include <boost/any.hpp>'
  plant libcore/ops/a.hpp '#include <hdf5.h>'
  plant libcore/text/a.cpp '#include <nlohmann/json.hpp>'
  plant libcore/text/a.cpp 'void f(char** argv);'
  plant libcore/data/a.hpp '#include "heddle/formats/model.hpp"'
  plant formats/a.cpp '#include "heddle/cli/run.hpp"'
  plant libcore/tensor/pool.cpp '#include <cblas.h>'
  plant formats/a.cpp '#include "dnnl.hpp"'
  plant tools/a.cpp '#include <mpi.h>'
  plant libcore/ops/a.cpp '#include "norm.hpp"'
  plant libcore/ops/a.cpp '#include "../tensor/tensor.hpp"'
  plant libcore/base/a.hpp '#include "heddle/tensor/tensor.hpp"'
  plant libcore/tensor/a.hpp '#include "heddle/autograd/tape.hpp"'
  plant libcore/text/a.hpp '#include "heddle/data/batches.hpp"'
  plant libcore/strange/a.hpp 'int x;'
  plant tests/a.cpp '// TODO: finish'
  plant man/a.1.in 'FIXME'
  [[ $failures -eq 0 ]]
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  check "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
fi
