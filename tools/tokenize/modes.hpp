// Modes of tokenize, one function each.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

// encode.cpp: on text.
void train_tokenizer(const cli::Arguments& arguments, const TokenizeOptions& options);
void print_tokens(const cli::Arguments& arguments, const TokenizeOptions& options);
void write_token_file(const cli::Arguments& arguments, const TokenizeOptions& options);

// encode_pairs.cpp: --pairs.
void write_pairs_file(const cli::Arguments& arguments, const TokenizeOptions& options);

// decode.cpp: --decode, of ids, token files and pairs files.
void decode(const cli::Arguments& arguments, const TokenizeOptions& options);

// locate.cpp: --offsets and --jsonl. Prints one line per line of text: ID:BEGIN:END or PIECE:BEGIN:END for each token,
// or an object with text, ids, and pieces and offsets if requested. Offsets are bytes of the line, from 0; the end is
// one past the last byte.
void print_located(const cli::Arguments& arguments, const TokenizeOptions& options);

// round_trip.cpp: --check. Encodes and decodes every line, or every document, and prints how many there are and how
// many change. Throws DataError, "FILE:LINE:BYTE: …", with the first difference, if there is one.
void check_round_trip(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
