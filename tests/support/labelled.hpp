// The readers of labelled data where a bad record is an error.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/conll.hpp"
#include "formats/labelled/csv.hpp"
#include "formats/labelled/fasttext.hpp"
#include "formats/labelled/jsonl.hpp"
#include "formats/labelled/labelled_input.hpp"
#include "formats/labelled/squad.hpp"
#include "formats/labelled/tsv.hpp"

namespace heddle::formats {

template <class Read>
auto all_good(const Place& begin, const Read& read) {
  BadRecords bad(begin.file);
  auto examples = read(bad);
  bad.check();
  return examples;
}

inline auto read_tsv(std::string_view content, const Place& begin, Texts texts, Gold gold,
                     TableColumns columns = TableColumns()) {
  return all_good(begin, [&](BadRecords& bad) { return read_tsv(content, begin, texts, gold, columns, bad); });
}

inline auto read_csv(std::string_view content, const Place& begin, Texts texts, Gold gold,
                     TableColumns columns = TableColumns()) {
  return all_good(begin, [&](BadRecords& bad) { return read_csv(content, begin, texts, gold, columns, bad); });
}

inline auto read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold,
                             TableColumns columns = TableColumns()) {
  return all_good(begin, [&](BadRecords& bad) { return read_jsonl_texts(content, begin, texts, gold, columns, bad); });
}

inline auto read_jsonl_spans(std::string_view content, const Place& begin, Gold gold) {
  return all_good(begin, [&](BadRecords& bad) { return read_jsonl_spans(content, begin, gold, bad); });
}

inline auto read_squad(std::string_view content, const Place& begin, Gold gold) {
  return all_good(begin, [&](BadRecords& bad) { return read_squad(content, begin, gold, bad); });
}

inline auto read_conll(std::string_view content, const Place& begin, std::string_view tags, Gold gold,
                       std::string_view words = "") {
  return all_good(begin, [&](BadRecords& bad) { return read_conll(content, begin, tags, gold, words, bad); });
}

inline auto read_conllu(std::string_view content, const Place& begin, std::string_view tags, Gold gold,
                        std::string_view words = "") {
  return all_good(begin, [&](BadRecords& bad) { return read_conllu(content, begin, tags, gold, words, bad); });
}

inline auto read(LabelledTextReader& reader, std::string_view content, const Place& begin) {
  return all_good(begin, [&](BadRecords& bad) { return reader.read(content, begin, bad); });
}

inline auto read_labelled_texts(std::string_view content, const Place& begin, const LabelledInput& input, Texts texts,
                                Gold gold) {
  LabelledTextReader reader(begin.file, input, texts, gold);
  return read(reader, content, begin);
}

inline auto read_tagged_sentences(std::string_view content, const Place& begin, const LabelledInput& input, Gold gold) {
  return all_good(begin, [&](BadRecords& bad) { return read_tagged_sentences(content, begin, input, gold, bad); });
}

inline auto read_span_questions(std::string_view content, const Place& begin, const LabelledInput& input, Gold gold) {
  return all_good(begin, [&](BadRecords& bad) { return read_span_questions(content, begin, input, gold, bad); });
}

}  // namespace heddle::formats
