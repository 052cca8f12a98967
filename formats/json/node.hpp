// A value in an untrusted JSON document. Its path is computed only when an error has to name it.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "formats/json/document.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"

namespace heddle::formats {

// The document of a file of at most 256 MB. Throws DataError with file and line if it is not JSON.
JsonDocument read_json(const std::string& path);

class JsonNodes;

// All functions throw DataError "FILE: a.b[3]: …" if the value is of another kind. The document must outlive the node
// and the texts that it returns.
class JsonNode {
 public:
  // The root value of a document.
  explicit JsonNode(const JsonDocument& document) : document_(&document) {}
  JsonNode(const JsonDocument& document, std::size_t index) : document_(&document), index_(index) {}

  bool is_null() const { return is(JsonDocument::Kind::null) || is_absent(); }
  bool is_object() const { return is(JsonDocument::Kind::object); }
  bool is_list() const { return is(JsonDocument::Kind::list); }
  bool is_text() const { return is(JsonDocument::Kind::text); }
  bool is_number() const { return is(JsonDocument::Kind::number); }
  bool is_flag() const { return is(JsonDocument::Kind::yes) || is(JsonDocument::Kind::no); }
  // A number without sign, fraction and exponent.
  bool is_count() const;

  // A member of an object; null if it is absent.
  JsonNode operator[](std::string_view key) const;
  // The same, and null if the value is not an object.
  JsonNode find(std::string_view key) const;
  // The members of a list, or of an object, which have key().
  JsonNodes list() const;
  JsonNodes members() const;
  std::size_t size() const { return value().at; }
  std::string_view key() const { return document_->characters(document_->values()[index_ - 1]); }

  std::string_view text() const;
  Index number(Index most = 0x7FFFFFFF) const;
  Index number_or(Index absent) const { return is_null() ? absent : number(); }
  double real() const;
  double real_or(double absent) const { return is_null() ? absent : real(); }
  bool flag() const;
  bool flag_or(bool absent) const { return is_null() ? absent : flag(); }
  // The digits of a number as they are written.
  std::string_view digits() const { return document_->characters(value()); }

  // Refuses objects with other members than these, whose meaning is unknown.
  const JsonNode& expect_only(std::initializer_list<std::string_view> keys) const;
  // Refuses other values, null for absent ones.
  void expect(const nlohmann::json& wanted) const;
  void expect_any_of(std::initializer_list<nlohmann::json> wanted) const;
  [[noreturn]] void refuse(const std::string& problem) const;
  // The value as compact JSON, in UTF-8, with members in their order and numbers as they are written.
  std::string json() const;
  // The value as ASCII JSON, cut where it is long.
  std::string shown() const;

 private:
  bool is_absent() const { return !missing_.empty(); }
  bool is(JsonDocument::Kind kind) const { return !is_absent() && value().kind == kind; }
  bool equals(const nlohmann::json& wanted) const;
  const JsonDocument::Value& value() const { return document_->values()[index_]; }
  std::string place() const;

  const JsonDocument* document_;
  std::size_t index_ = 0;  // index of the object that lacks the member, if it is absent
  std::string missing_;    // the absent member's part of the place
};

// Values side by side, one after the other.
class JsonNodes {
 public:
  class Iterator {
   public:
    Iterator(const JsonDocument& document, std::size_t index, std::size_t keys)
        : document_(&document), index_(index), keys_(keys) {}
    JsonNode operator*() const { return {*document_, index_ + keys_}; }
    Iterator& operator++() {
      index_ = next_of(document_->values(), index_ + keys_);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const JsonDocument* document_;
    std::size_t index_, keys_;  // keys_: 1 where a key stands before each value
  };

  JsonNodes(Iterator begin, Iterator end) : begin_(begin), end_(end) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_, end_;
};

}  // namespace heddle::formats
