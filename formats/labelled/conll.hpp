// Sentences with a tag for each word, a word a line, with an empty line after each sentence.
//
// CoNLL columns: the word first, further columns apart by tabs where the line has a tab, else by blanks; every line has
// as many. Lines of white space alone count as empty. Lines that begin with "-DOCSTART-" are no words.
//
// CoNLL-U: ten columns apart by tabs; ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC. Lines that begin
// with
// '#' are comments. Multiword tokens (ID 3-4) and empty nodes (8.1) are no words; IDs of words count from 1.
// Source: universaldependencies.org/format.html.
//
// What is no word is left out of the sentences; their line numbers tell where in the file the words are.
#pragma once

#include <string_view>
#include <vector>

#include "heddle/data/examples.hpp"
#include "heddle/formats/labelled/labelled_line.hpp"

namespace heddle::formats {

// The first line is at `begin`. The column is the tag's number from 1, in CoNLL-U also its name in small letters; "" is
// the last column of CoNLL, and upos of CoNLL-U. Throw UsageError for other columns, and DataError, "FILE:LINE: …", for
// lines of another form.
std::vector<data::TaggedSentence> read_conll(std::string_view content, const Place& begin, std::string_view column,
                                             Gold gold);
std::vector<data::TaggedSentence> read_conllu(std::string_view content, const Place& begin, std::string_view column,
                                              Gold gold);

}  // namespace heddle::formats
