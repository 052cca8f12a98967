// Records of labelled data that cannot be used. Whoever reads a file passes them to one BadRecords, which reports all
// of them at once, or leaves them out and counts them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/labelled_line.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/visit.hpp"

namespace heddle::formats {

enum class BadRecordRule { error, skip };

}  // namespace heddle::formats

template <>
struct heddle::Names<heddle::formats::BadRecordRule> {
  static constexpr std::pair<formats::BadRecordRule, std::string_view> list[] = {
      {formats::BadRecordRule::error, "error"}, {formats::BadRecordRule::skip, "skip"}};
};

namespace heddle::formats {

struct BadRecord {
  Index number = 0;  // among the records of its part of the file, from 0
  Index line = 0;    // on which the record begins
};

class BadRecords {
 public:
  // `option`: the option that leaves bad records out, if there is one, for the error that lists them.
  explicit BadRecords(std::string_view file, BadRecordRule rule = BadRecordRule::error, std::string option = "")
      : file_(file), rule_(rule), option_(std::move(option)) {}

  // Calls read(), which reads the record that begins on this line. The record is bad if it throws DataError, other than
  // NoRoom, which is about the whole file. Returns whether it is good.
  template <class Read>
  bool attempt(Index line, const Read& read) {
    try {
      read();
    } catch (const NoRoom&) {
      throw;
    } catch (const DataError& error) {
      add(line, error.what());
      return false;
    }
    add_good();
    return true;
  }
  void add_good() { ++good_; }
  // The same of a record that was read and counts as good.
  template <class Use>
  bool attempt_again(Index line, const Use& use) {
    --good_;
    return attempt(line, use);
  }
  // A bad record, and what is wrong with it.
  void add(Index line, std::string_view problem);

  bool are_left_out() const { return rule_ == BadRecordRule::skip; }
  const std::vector<BadRecord>& all() const { return bad_; }
  Index total() const { return good_ + static_cast<Index>(bad_.size()); }

  // Throws DataError about the bad records so far, in one line, unless they are left out and others remain.
  void check() const;
  // How many were left out, and why the first of them; nothing if none was.
  std::optional<std::string> note() const;

 private:
  // Records with one problem.
  struct Problem {
    std::string reason;               // includes the place if that is not in this file
    std::vector<std::string> places;  // "5", or "5:12"; none where the reason names the record
  };
  std::string listed(std::size_t most) const;

  std::string file_;
  BadRecordRule rule_;
  std::string option_;
  Index good_ = 0;
  std::vector<BadRecord> bad_;
  std::vector<Problem> problems_;  // the first bad records
};

}  // namespace heddle::formats
