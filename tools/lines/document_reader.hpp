// Reads text files as documents.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "formats/heddle/provenance.hpp"
#include "libcore/text/text_error.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/streams.hpp"
#include "tools/lines/document_cutter.hpp"
#include "tools/lines/invalid_bytes.hpp"

namespace heddle {

// Maps positions in documents to files, lines and bytes, while an encoder processes the documents.
class Places {
 public:
  void begin_input(const std::string& name) { inputs_.push_back({name, here_}); }
  void advance(std::string_view text) { here_.advance(text); }
  void begin_document() { documents_.push_back(here_); }
  void finish_document() { documents_.pop_front(); }  // the one that began first

  // "FILE:LINE:BYTE" of a position in the first document that is not finished.
  std::string text_of(const text::TextPosition& in_document) const;

 private:
  struct Input {
    std::string name;
    text::TextPosition begin;
  };
  text::TextPosition here_;  // position in the concatenation of all inputs
  std::vector<Input> inputs_;
  std::deque<text::TextPosition> documents_{here_};  // starts of the unfinished documents
};

// Receives the text.
class TextConsumer {
 public:
  virtual ~TextConsumer() = default;
  virtual void add(std::string_view text) = 0;
  virtual void end_document() = 0;
  // More text would have to be waited for: results so far should be written now.
  virtual void pause() = 0;
};

// Reads inputs in order, as documents; keeps checksums for the provenance and shows progress.
class DocumentReader {
 public:
  // Throws DataError when an input is missing, before any is read.
  DocumentReader(const cli::Arguments& arguments, std::vector<std::string> names, Documents separator);

  // Throws DataError, with file, line and byte for what the consumer reports as a TextError, and for invalid bytes that
  // are an error; the consumer then has had all lines before.
  void read_into(TextConsumer& consumer, InvalidBytes& invalid);
  // The consumer calls it when it is done with a document, in order.
  void finish_document() { places_.finish_document(); }

  // "FILE:LINE:BYTE" of a position in the first document that is not finished.
  std::string where(const text::TextPosition& in_document) const { return places_.text_of(in_document); }
  std::string shown_names() const;  // for messages
  Index bytes() const { return bytes_; }
  void add_inputs(formats::Provenance& provenance) const;

 private:
  void measure(const std::string& name);
  void read_input(const std::string& name, TextConsumer& consumer, DocumentCutter& cutter, InvalidBytes& invalid);

  const cli::Arguments& arguments_;
  Documents separator_;
  std::vector<std::string> names_;
  double total_ = 0;  // megabytes; without inputs of unknown size
  bool total_known_ = true;
  Index bytes_ = 0;
  Places places_;
  cli::Progress progress_;
  std::vector<formats::ProvenanceInput> inputs_;
};

}  // namespace heddle
