#!/usr/bin/env bash
# Who may include whom, and who may know of which class. CMake's targets enforce most of it; this finds what they cannot
# see.
#
#   include_rules.sh [ROOT]         prints each violation as file:line: text, and fails if there is one
#   include_rules.sh --self-test    plants violations of each kind and fails if one is not found
set -euo pipefail

# What each folder of libcore may include of libcore, itself aside.
declare -A sees_of_libcore=(
  [base]=""
  [tensor]="base"
  [autograd]="base tensor"
  [ops]="base tensor autograd parallel"
  [attention]="base tensor autograd ops"
  [positions]="base tensor autograd ops"
  [nn]="base tensor autograd ops attention positions parallel"
  [heads]="base tensor autograd ops attention nn"
  [models]="base tensor autograd ops attention positions nn heads text data"
  [text]="base tensor"
  [parallel]="base tensor"
  [symbolic]="base"
  [data]="base tensor text symbolic"
  [metrics]="base text"
  [training]="base tensor autograd ops attention nn heads models text data metrics parallel"
  [decoding]="base tensor autograd ops attention nn heads models text data parallel"
  [analysis]="base tensor autograd ops attention positions nn heads models text data training decoding parallel"
)
# What each folder of formats may include of formats.
declare -A sees_of_formats=(
  [files]=""
  [hdf5]="files"
  [json]="files"
  [archives]="files hdf5 json"
  [heddle]="files hdf5 json archives"
  [sentencepiece]="files hdf5 json archives"
  [gguf]="files hdf5 json archives heddle huggingface sentencepiece"
  [labelled]="files hdf5 json archives"
  [graphs]="files hdf5 json archives labelled"
  [chemical]="files hdf5 json archives"
  [symbolic]="files json"
  [huggingface]="files hdf5 json archives heddle sentencepiece"
)

violations=0

# refuse RULE PATTERN PATH... [-- EXCEPT]: reports lines that match under the paths, but for those that EXCEPT matches.
refuse() {
  local rule=$1 pattern=$2 paths=() except='^$' lines
  shift 2
  while [[ $# -gt 0 && $1 != -- ]]; do paths+=("$1"); shift; done
  [[ $# -gt 0 ]] && except=$2
  lines=$(grep -rnIE --exclude-dir=node_modules "$pattern" "${paths[@]}" 2>/dev/null | grep -vE "$except" || true)
  report "$rule" "$lines"
}

report() {
  [[ -z $2 ]] && return
  violations=$((violations + 1))
  printf '%s:\n%s\n' "$1" "$2"
}

# option_words PATH...: lines of sources with a word that begins with two dashes in a string or a // comment; a decrement
# in code is none.
option_words() {
  local sources
  mapfile -t sources < <(find "$@" \( -name '*.[ch]pp' -o -name '*.def' \) | sort)
  [[ ${#sources[@]} -eq 0 ]] || awk '
    {
      line = $0
      gsub(/\\./, " ")
      count = split($0, part, "\""); text = code = ""
      for (i = 1; i <= count; ++i) if (i % 2 == 0) text = text " " part[i]; else code = code " \" " part[i]
      if (match(code, /\/\/.*/)) text = text " " substr(code, RSTART)
    }
    text ~ /(^|[^-[:alnum:]_])--[[:alpha:]]/ { print FILENAME ":" FNR ":" line }
  ' "${sources[@]}"
}

# listed LIST.def...: "NAME CLASS" for each entry of these lists.
listed() {
  sed -nE 's/^HEDDLE_[A-Z]+\((\w+), *(\w+),.*/\1 \2/p' "$@"
}

# Whoever uses a model asks for a role; whoever uses attention or positions asks for their interface.
check_roles() {
  local models=libcore/models/architectures.def name class own list
  local lists=($models libcore/attention/variants.def libcore/positions/positions.def)
  for list in "${lists[@]}"; do
    [[ -n $(listed "$list") ]] || report "a list without entries" "$list"
  done
  local rule="only an architecture's own files know of its class: ask for a role"
  while read -r name class; do
    own="^libcore/models/${name//-/_}\.[ch]pp:"
    refuse "$rule" "\bmodels::$class\b" libcore formats tools -- "$own"
    refuse "$rule" "(^|[^:[:alnum:]_])$class\b" libcore/models -- "$own|^$models:"
    refuse "$rule" "[=!]= *\"$name\"|\"$name\" *[=!]=|\bArchitecture::$name\b" libcore formats tools -- "$own"
  done < <(listed $models)
  refuse "nobody asks which architecture a model is of: ask for a role" \
    'switch *\(.*\barch|[=!]= *[[:alnum:]_:]+::kind_name|::kind_name *[=!]=' libcore formats tools
  while read -r name class; do
    refuse "nobody asks what class something is of: ask for a role, or the interface" \
      "dynamic_cast<(const )?([[:alnum:]_]+::)*$class\b" libcore formats tools
  done < <(listed "${lists[@]}")
}

# check_folders ROOT TABLE: each folder of libcore or formats includes of that only what the table says.
check_folders() {
  local root=$1 folder allowed
  local -n sees=$2
  for folder in "$root"/*/; do
    folder=$(basename "$folder")
    [[ -v sees[$folder] ]] || { report "a folder that has no rule here" "$root/$folder"; continue; }
    allowed="$folder${sees[$folder]:+ ${sees[$folder]}}"
    refuse "$root/$folder may include of $root only: $allowed" "#include *[<\"]$root/" "$root/$folder" \
      -- "[<\"]$root/(${allowed// /|})/"
  done
}

check() {
  cd "$1"
  refuse "libcore knows no Boost, HDF5 or JSON" '#include *[<"](boost/|hdf5|H5|nlohmann/)' libcore
  refuse "libcore knows no command line" '\bargv\b' libcore -- '^[^:]*\.py:'
  report "libcore names fields in backquotes (libcore/base/fields_in_messages.hpp); tools write them as options" \
    "$(option_words libcore)"
  refuse "libcore knows neither formats nor tools" '#include *[<"](formats|tools)/' libcore
  refuse "formats know no tools" '#include *[<"]tools/' formats
  refuse "what tools share knows no single tool" \
    '#include *"tools/(tokenize|pretrain|finetune|generate|classify|convert|inspect)/' \
    tools/cli tools/lines tools/training tools/tasks tools/drawing tools/symbolic
  refuse "the command line knows no rooms of tools" '#include *"tools/' tools/cli -- '"tools/cli/'
  for folder in drawing symbolic; do
    refuse "tools/$folder knows only the command line" '#include *"tools/' "tools/$folder" -- "\"tools/(cli|$folder)/"
  done
  for folder in tools/inspect/*/; do
    refuse "rooms of verbs know no other room" '#include *"tools/inspect/[^/"]*/' "$folder" -- "\"$folder"
  done
  refuse "only formats/hdf5 includes HDF5" \
    '#include *[<"]hdf5' formats tools -- '^formats/hdf5/'
  refuse "only formats/chemical includes RDKit" '#include *<(GraphMol|RDGeneral|rdkit)/' \
    libcore formats tools -- '^formats/chemical/'
  refuse "only .cpp files of libcore/symbolic include GiNaC and FLINT" '#include *<(ginac|flint|mpfr|gmp)' \
    libcore formats tools -- '^libcore/symbolic/[a-z_]+\.cpp:|^libcore/symbolic/flint\.hpp:'
  refuse "only convert reads molecules" '#include *"formats/chemical/' formats tools \
    -- '^(formats/chemical|tools/convert)/'
  refuse "headers are named by their path in the repository" '#include *"(\.|[^/"]*")' libcore formats tools
  refuse "only libcore/tensor/blas.cpp includes BLAS or oneDNN" '#include *[<"](cblas|openblas|dnnl|oneapi/dnnl)' \
    libcore formats tools -- '^libcore/tensor/blas\.cpp:'
  refuse "only libcore/parallel includes MPI" '#include *[<"]mpi\.h' libcore formats tools -- '^libcore/parallel/'
  check_folders libcore sees_of_libcore
  check_folders formats sees_of_formats
  check_roles
  refuse "unfinished work" '\b(TODO|FIXME)\b' CMakeLists.txt cmake libcore formats tools tests man examples \
    -- '^tests/include_rules\.sh:'
  return $((violations > 0))
}

# plant PATH LINE: adds the line to the planted tree, where it must be found.
plant() {
  mkdir -p "$(dirname "$scratch/planted/$1")"
  printf '%s\n' "$2" >>"$scratch/planted/$1"
  planted+=("$1:$(wc -l <"$scratch/planted/$1"):$2")
}

self_test() {
  self=$(realpath "${BASH_SOURCE[0]}")
  scratch=$(mktemp -d)
  failures=0
  trap 'rm -rf "$scratch"' EXIT
  mkdir -p "$scratch/clean"/{formats/{hdf5,huggingface},tools/inspect/texts,tests,man,cmake,examples}
  mkdir -p "$scratch/clean"/libcore/{base,tensor,ops,text,data,attention,positions,models}
  printf 'HEDDLE_ATTENTION(dot, DotAttention, "")\n' >"$scratch/clean/libcore/attention/variants.def"
  printf 'HEDDLE_POSITIONS(rope, RotaryPositions, "")\n' >"$scratch/clean/libcore/positions/positions.def"
  printf 'HEDDLE_ARCHITECTURE(%s, "")\n' 'decoder, Decoder' 'lstm, Lstm' \
    >"$scratch/clean/libcore/models/architectures.def"
  printf 'if (arch == "decoder") { Decoder model; models::Decoder other; }\n' \
    >"$scratch/clean/libcore/models/decoder.cpp"
  printf 'using text::Encoder; nn::Lstm cell; if (a.arch != b.arch) return models::DecoderConfig::kind_name;\n' \
    >"$scratch/clean/libcore/models/model.hpp"
  printf '#include <cblas.h>\n#include "libcore/base/error.hpp"\n' >"$scratch/clean/libcore/tensor/blas.cpp"
  printf '%s\n' 'for (std::string s = "a\""; i > 0; --i) s += "a--b -- \\"c\\"";' 'f("x"), --i, g("y");  // a -> b' \
    >"$scratch/clean/libcore/text/words.cpp"
  printf 'parser.add_argument("--help")\n' >"$scratch/clean/libcore/text/table.py"
  printf '#include "tools/inspect/%s.hpp"\n' verbs texts/tokens >"$scratch/clean/tools/inspect/texts/tokens.cpp"
  printf '#include <hdf5.h>\n#include "libcore/tensor/tensor.hpp"\n' >"$scratch/clean/formats/hdf5/model.cpp"
  printf '#include "formats/%s"\n' files/lines.hpp heddle/file.hpp sentencepiece/message.hpp \
    >"$scratch/clean/formats/huggingface/model.cpp"
  "$self" "$scratch/clean" || { echo "the clean tree fails"; failures=1; }

  cp -r "$scratch/clean" "$scratch/planted"
  local -a planted=()
  plant libcore/ops/a.cpp '#include <boost/any.hpp>'
  plant libcore/ops/a.hpp '#include <hdf5.h>'
  plant libcore/text/a.cpp '#include <nlohmann/json.hpp>'
  plant libcore/text/a.cpp 'void f(char** argv);'
  plant libcore/text/a.cpp 'check(rank < 9, "--rank ", rank, " is more than 8");'
  plant libcore/text/a.hpp 'Field("size", "\"auto\" means --width")'
  plant libcore/text/a.hpp 'for (;; --i) {}  // until --width'
  plant libcore/text/kinds.def 'HEDDLE_KIND(bpe, "merges; see (--merges)")'
  plant libcore/data/a.hpp '#include "formats/model.hpp"'
  plant formats/a.cpp '#include "tools/cli/run.hpp"'
  plant libcore/tensor/pool.cpp '#include <cblas.h>'
  plant formats/a.cpp '#include "dnnl.hpp"'
  plant tools/a.cpp '#include <mpi.h>'
  plant tools/generate/a.cpp '#include "options.hpp"'
  plant tools/lines/a.cpp '#include "tools/generate/options.hpp"'
  plant tools/cli/a.cpp '#include "tools/lines/overlong.hpp"'
  plant tools/drawing/a.cpp '#include "tools/inspect/verbs.hpp"'
  plant tools/drawing/a.cpp '#include "tools/lines/overlong.hpp"'
  plant tools/symbolic/a.cpp '#include "tools/lines/overlong.hpp"'
  plant tools/inspect/texts/a.cpp '#include "tools/inspect/vectors/map.hpp"'
  plant formats/a.cpp '#include "tools/lines/overlong.hpp"'
  plant formats/heddle/a.cpp '#include <hdf5.h>'
  plant libcore/ops/a.cpp '#include "norm.hpp"'
  plant libcore/ops/a.cpp '#include "../tensor/tensor.hpp"'
  plant libcore/base/a.hpp '#include "libcore/tensor/tensor.hpp"'
  plant libcore/tensor/a.hpp '#include "libcore/autograd/tape.hpp"'
  plant libcore/text/a.hpp '#include "libcore/data/batches.hpp"'
  plant formats/files/a.cpp '#include "formats/hdf5/reader.hpp"'
  plant formats/hdf5/a.cpp '#include "formats/json/node.hpp"'
  plant formats/json/a.cpp '#include "formats/archives/text_archive.hpp"'
  plant formats/archives/a.hpp '#include "formats/heddle/file.hpp"'
  plant formats/heddle/a.cpp '#include "formats/huggingface/load_tokenizer.hpp"'
  plant formats/sentencepiece/a.cpp '#include "formats/huggingface/piece_list.hpp"'
  plant formats/labelled/a.cpp '#include "formats/heddle/file.hpp"'
  plant formats/labelled/a.cpp '#include "formats/graphs/tu_folder.hpp"'
  plant formats/chemical/a.cpp '#include "formats/labelled/csv.hpp"'
  plant formats/heddle/a.cpp '#include <GraphMol/RWMol.h>'
  plant tools/a.cpp '#include "formats/chemical/smiles.hpp"'
  plant tools/a.cpp 'const models::Decoder model(config, 1);'
  plant libcore/text/a.cpp 'model.as<models::Lstm>();'
  plant libcore/models/a.cpp 'class Other : public Lstm {};'
  plant libcore/models/decoder.cpp 'class Other : public Lstm {};'
  plant formats/a.cpp 'dynamic_cast<const Decoder*>(&model)'
  plant libcore/models/decoder.cpp 'dynamic_cast<const models::Decoder&>(model)'
  plant tools/a.cpp 'dynamic_cast<const DotAttention*>(&attention)'
  plant libcore/ops/a.cpp 'dynamic_cast<heddle::RotaryPositions&>(positions)'
  plant tools/a.cpp 'if (config.arch() == "lstm") return;'
  plant tools/a.cpp 'if ("decoder" != config.arch()) return;'
  plant tools/a.cpp 'case Architecture::lstm: return 1;'
  plant libcore/data/a.cpp 'switch (config.arch) {'
  plant formats/a.cpp 'if (config.arch() == models::DecoderConfig::kind_name) return;'
  plant tests/a.cpp '// TODO: finish'
  plant man/a.1.scd 'FIXME'
  mkdir "$scratch/planted"/{libcore,formats}/strange
  planted+=(libcore/strange formats/strange)
  local output line
  output=$("$self" "$scratch/planted") && { echo "the planted tree passes"; failures=1; }
  for line in "${planted[@]}"; do
    grep -qxF "$line" <<<"$output" || { printf 'not found: %s\n' "$line"; failures=$((failures + 1)); }
  done
  [[ $failures -eq 0 ]]
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  check "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
fi
