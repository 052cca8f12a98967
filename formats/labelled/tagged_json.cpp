#include "formats/labelled/tagged_json.hpp"

#include <algorithm>
#include <initializer_list>

#include "formats/labelled/example_members.hpp"
#include "formats/labelled/span_json.hpp"
#include "libcore/text/plain_words.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

// The key that the user gave, or else the first of these that the object has. Throws DataError if it has none.
std::string key_in(const JsonNode& object, const std::string& given, std::initializer_list<const char*> usual,
                   const std::string& where, const char* option) {
  if (given.empty()) {
    for (const char* const key : usual) {
      if (has_member(object, key)) return key;
    }
  }
  const std::string key = given.empty() ? *usual.begin() : given;
  check_has_key(object, key, where, option);
  return key;
}

void add_word(data::TaggedSentence& sentence, std::string_view word, const Place& place, Room& room) {
  check<DataError>(!word.empty(), place, ": a word is empty");
  room.take(2 * sizeof(std::string) + sizeof(Index) + 3 * sizeof(text::PlainWord));
  sentence.words.emplace_back(word);
  sentence.lines.push_back(place.line);
}

std::string tag_from(const JsonNode& tag, const std::vector<std::string>& names, const Place& place) {
  check<DataError>(tag.is_text() || tag.is_number(), place, ": a tag is neither a string nor a number");
  std::string name(tag.is_text() ? tag.text() : tag.digits());
  if (tag.is_number() && !names.empty()) {
    check<DataError>(tag.is_count() && tag.number() < std::ssize(names), place, ": the tag ", tag.digits(),
                     " has no name; --format jsonl:tags=... names 0 to ", names.size() - 1);
    name = names[static_cast<std::size_t>(tag.number())];
  }
  check_label(name, place);
  return name;
}

void add_tags(data::TaggedSentence& sentence, const JsonNode& tags, const std::vector<std::string>& names,
              const Place& place) {
  check<DataError>(tags.size() == sentence.words.size(), place, ": the numbers of words and tags are ",
                   sentence.words.size(), " and ", tags.size());
  for (const JsonNode& tag : tags.list()) sentence.tags.push_back(tag_from(tag, names, place));
}

// Bytes of a text.
struct LabelledSpan {
  std::size_t begin = 0, end = 0;
  std::string label;
};

LabelledSpan span_from(const JsonNode& span, const SpanContext& text, const Place& place) {
  std::vector<JsonNode> parts;
  if (span.is_list()) {
    for (const JsonNode& part : span.list()) parts.push_back(part);
  } else if (span.is_object()) {
    parts = {span.find("start"), span.find("end"), span.find("label")};
  }
  check<DataError>(parts.size() >= 3 && parts[0].is_count() && parts[1].is_count() && parts[2].is_text(), place,
                   ": an entity is {\"start\": 0, \"end\": 5, \"label\": \"PER\"} or [0, 5, \"PER\"], not ",
                   text::shown(span.json()));
  LabelledSpan found{.label = std::string(name_in(parts[2].text()))};
  check_label(found.label, place);
  found.begin = text.offset_of(static_cast<std::uint64_t>(parts[0].number()));
  found.end = text.offset_of(static_cast<std::uint64_t>(parts[1].number()));
  check<DataError>(found.begin != std::string::npos && found.end != std::string::npos && found.begin < found.end, place,
                   ": the entity ", text::shown(span.json()), " is not within its text");
  return found;
}

// Tags the words, which are views of the text.
void add_spans(data::TaggedSentence& sentence, const std::vector<text::PlainWord>& words, const JsonNode& spans,
               const SpanContext& text, const Place& place) {
  sentence.tags.assign(words.size(), "O");
  for (const JsonNode& node : spans.list()) {
    const LabelledSpan span = span_from(node, text, place);
    const auto first = std::ranges::find_if(words, [&](const text::PlainWord& word) { return word.end > span.begin; });
    const auto last =
        std::ranges::find_if(first, words.end(), [&](const text::PlainWord& word) { return word.begin >= span.end; });
    check<DataError>(first != last, place, ": the entity ", text::shown(node.json()), " has no word");
    sentence.widened += first->begin < span.begin || (last - 1)->end > span.end ? 1 : 0;
    for (auto word = first; word != last; ++word) {
      std::string& tag = sentence.tags[static_cast<std::size_t>(word - words.begin())];
      check<DataError>(tag == "O", place, ": two entities have the word ",
                       text::shown(text.text()->substr(word->begin, word->end - word->begin)), "; a word has one tag");
      tag = (word == first ? "B-" : "I-") + span.label;
    }
  }
}

}  // namespace

data::TaggedSentence tagged_sentence(const JsonNode& object, const Place& place, const TaggedKeys& keys, Gold gold,
                                     Room& room) {
  const std::string where = concatenate(place);
  const std::string key = key_in(object, keys.words, {"tokens", "words", "text"}, where, "--text-column");
  const JsonNode words = object.find(key);
  data::TaggedSentence sentence;
  if (words.is_list()) {
    for (const JsonNode& word : words.list()) {
      check<DataError>(word.is_text(), place, ": \"", key, "\" has a word that is not a string");
      add_word(sentence, word.text(), place, room);
    }
    check<DataError>(!sentence.words.empty(), place, ": has no words");
    if (gold == Gold::absent) return sentence;
    const std::string tags = key_in(object, keys.tags, {"ner_tags", "tags"}, where, "--label-column");
    add_tags(sentence, list_member(object, tags.c_str(), where), keys.names, place);
    return sentence;
  }
  const SpanContext text(text_member(object, key.c_str(), where));
  const std::vector<text::PlainWord> places = text::plain_words(*text.text());
  sentence.words.reserve(places.size());
  sentence.lines.reserve(places.size());
  for (const auto& [begin, end] : places) add_word(sentence, text.text()->substr(begin, end - begin), place, room);
  check<DataError>(!sentence.words.empty(), place, ": has no words");
  if (gold == Gold::absent) return sentence;
  const std::string spans = key_in(object, keys.tags, {"entities", "spans"}, where, "--label-column");
  add_spans(sentence, places, list_member(object, spans.c_str(), where), text, place);
  return sentence;
}

}  // namespace heddle::formats
