// Sentences with a tag for each word: one word per line, and an empty line after each sentence.
//
// CoNLL columns: the word comes first, unless another column is given. Columns are separated by tabs if the line has a
// tab, else by blanks; all lines have the same number. Lines of only white space count as empty. Lines that begin with
// "-DOCSTART-" are not words, and of those that begin with '#' neither are "# KEY = VALUE", "#begin …" and "#end …" of
// CoNLL-2012, and those with one or two fields where words have another number.
//
// CoNLL-U: ten tab-separated columns, ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC. Lines that begin
// with '#' are comments. Multiword tokens (ID 3-4) and empty nodes (8.1) are not words; IDs of words count from 1.
// Source: universaldependencies.org/format.html.
//
// The sentences contain only words, with the line numbers of these in the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/bad_records.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// The first line is at `begin`. The columns of tags and words are numbers from 1, in CoNLL-U also names in small
// letters; "" is the last column of CoNLL, and upos of CoNLL-U, for tags, and the first, and form, for words. A
// sentence with a line in another format is a bad record. Throw UsageError for other columns.
std::vector<data::TaggedSentence> read_conll(std::string_view content, const Place& begin, std::string_view tags,
                                             Gold gold, std::string_view words, BadRecords& bad);
std::vector<data::TaggedSentence> read_conllu(std::string_view content, const Place& begin, std::string_view tags,
                                              Gold gold, std::string_view words, BadRecords& bad);

// The line of a word, which those have read, with another tag in the column of the tags; all else stays as it is.
std::string with_tag(std::string_view line, std::string_view tags, std::string_view tag, bool is_conllu);

}  // namespace heddle::formats
