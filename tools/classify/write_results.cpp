#include "tools/classify/write_results.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "formats/archives/json_archive.hpp"
#include "formats/files/lines.hpp"
#include "libcore/text/plain_words.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/object_line.hpp"
#include "tools/tasks/label_sets.hpp"

namespace heddle {

namespace {

using formats::Json;

const std::string no_tag = "_";  // CoNLL-U's mark of an empty field

// The most probable classes, best first.
std::vector<Index> ranking(const std::vector<double>& probabilities, Index top) {
  std::vector<Index> order(probabilities.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return probabilities[static_cast<std::size_t>(a)] > probabilities[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  return order;
}

Json text_json(const data::LabelledText& text) {
  Json json{{text.name.empty() ? "text" : "id", text.shown()}};
  if (text.second_text) json["text_b"] = *text.second_text;
  return json;
}

}  // namespace

TaskData joined_texts(const std::vector<ReadText>& texts) {
  TaskData all{.file = texts.front().data.file, .texts = {}, .sentences = {}, .questions = {}};
  for (const ReadText& text : texts) append(all, text.data);
  return all;
}

void write_classes(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                   const std::vector<std::vector<double>>& classes, const WriteOptions& options) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::vector<Index> order = ranking(classes[i], options.top);
    const auto probability = [&](Index id) { return classes[i][static_cast<std::size_t>(id)]; };
    const bool has_label = probability(order[0]) >= options.threshold;
    if (options.jsonl) {
      Json json = text_json(data.texts[i]);
      json["label"] = has_label ? Json(labels.name(order[0])) : Json();
      json["probability"] = probability(order[0]);
      for (const Index id : order) json["top"].push_back({labels.name(id), probability(id)});
      out << object_line(json, data.texts[i].more) << "\n";
      continue;
    }
    if (!has_label) out << "\t" << probability(order[0]);
    for (std::size_t k = 0; k < order.size() && probability(order[k]) >= options.threshold; ++k) {
      out << (k == 0 ? "" : "\t") << labels.name(order[k]) << "\t" << probability(order[k]);
    }
    out << "\n";
  }
}

void write_label_sets(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                      const LabelProbabilities& found, const WriteOptions& options) {
  const std::vector<double> thresholds =
      options.threshold > 0 ? std::vector<double>(static_cast<std::size_t>(labels.size()), options.threshold)
                            : found.thresholds;
  for (std::size_t i = 0; i < found.of_texts.size(); ++i) {
    const std::vector<double>& probabilities = found.of_texts[i];
    const std::vector<Index> given = given_labels(probabilities, thresholds);
    const std::vector<Index> listed = options.has_top ? ranking(probabilities, options.top) : given;
    const auto probability = [&](Index id) { return probabilities[static_cast<std::size_t>(id)]; };
    if (!options.jsonl) {
      for (std::size_t k = 0; k < listed.size(); ++k)
        out << (k == 0 ? "" : "\t") << labels.name(listed[k]) << "\t" << probability(listed[k]);
      out << "\n";
      continue;
    }
    Json json = text_json(data.texts[i]);
    json["labels"] = Json::array();
    for (const Index id : given) json["labels"].push_back(labels.name(id));
    json["probabilities"] = Json::object();
    for (const Index id : ranking(probabilities, options.has_top ? options.top : labels.size()))
      json["probabilities"][labels.name(id)] = probability(id);
    out << object_line(json, data.texts[i].more) << "\n";
  }
}

void write_numbers(std::ostream& out, const TaskData& data, const std::vector<double>& numbers,
                   const WriteOptions& options) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (options.jsonl) {
      Json json = text_json(data.texts[i]);
      json["value"] = numbers[i];
      out << object_line(json, data.texts[i].more) << "\n";
    } else {
      out << numbers[i] << "\n";
    }
  }
}

void write_tags(std::ostream& out, const std::vector<ReadText>& texts, const TaskData& data,
                const data::LabelSet& labels, const TaskAnswers& answers, const WriteOptions& options) {
  std::map<Index, std::string> tag_of_line;
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    const data::TaggedSentence& sentence = data.sentences[s];
    const std::vector<std::optional<Index>> tags = predicted_tags(answers.tags[s], labels);
    Json names = Json::array();
    for (std::size_t w = 0; w < tags.size(); ++w) {
      names.push_back(tags[w] ? Json(labels.name(*tags[w])) : Json());
      tag_of_line[sentence.lines[w]] = tags[w] ? labels.name(*tags[w]) : no_tag;
    }
    if (options.jsonl) out << json_line({{"words", sentence.words}, {"tags", names}}) << "\n";
    if (options.jsonl || !options.words) continue;
    for (std::size_t w = 0; w < tags.size(); ++w) {
      out << escaped_field(sentence.words[w]) << "\t" << (tags[w] ? labels.name(*tags[w]) : no_tag) << "\n";
    }
    out << "\n";
  }
  if (options.jsonl || options.words) return;
  for (const ReadText& text : texts) {
    formats::for_each_line(text.input.text, {text.input.file, text.input.line},
                           [&](std::string_view line, const formats::Place& place) {
                             const auto tag = tag_of_line.find(place.line);
                             out << line << (tag == tag_of_line.end() ? "" : "\t" + tag->second) << "\n";
                           });
  }
}

void write_parts(std::ostream& out, const TaskData& data, const data::LabelSet& labels, const TaskAnswers& answers,
                 const WriteOptions& options) {
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    const data::TaggedSentence& graph = data.sentences[s];
    Json names = Json::array();
    for (std::size_t w = 0; w < graph.words.size(); ++w) {
      const Guess guess = guess_of(answers.tags[s][w]);
      names.push_back(labels.name(guess.label));
      if (options.jsonl) continue;
      out << graph.lines[w] << "\t" << escaped_field(graph.words[w]) << "\t" << labels.name(guess.label) << "\t"
          << guess.probability << "\n";
    }
    if (options.jsonl)
      out << json_line({{"graph", graph.lines.front()},
                        {data.columns.empty() ? to_text(data.level) + "s" : "names", graph.words},
                        {"labels", names}})
          << "\n";
  }
}

void write_raw_tags(std::ostream& out, const std::vector<ReadText>& texts, const TaskData& data,
                    const data::LabelSet& labels, const TaskAnswers& answers, const WriteOptions& options) {
  for (std::size_t s = 0; s < texts.size(); ++s) {
    const std::string& line = texts[s].input.text;
    const std::vector<std::optional<Index>> tags = predicted_tags(answers.tags[s], labels);
    Json tag_names = Json::array(), begins = Json::array(), ends = Json::array();
    std::size_t at = 0, characters = 0;  // before `at`
    const auto offset = [&](std::size_t place) {
      characters += text::count_characters(std::string_view(line).substr(at, place - at));
      at = place;
      return characters;
    };
    for (std::size_t w = 0; const auto& [begin, end] : text::plain_words(line)) {
      const std::size_t from = offset(begin), to = offset(end);
      if (options.jsonl) {
        tag_names.push_back(tags[w] ? Json(labels.name(*tags[w])) : Json());
        begins.push_back(from);
        ends.push_back(to);
      } else {
        out << data.sentences[s].words[w] << "\t" << from << "\t" << to << "\t"
            << (tags[w] ? labels.name(*tags[w]) : no_tag) << "\n";
      }
      ++w;
    }
    if (options.jsonl) {
      out << json_line({{"text", line},
                        {"words", data.sentences[s].words},
                        {"tags", std::move(tag_names)},
                        {"begins", std::move(begins)},
                        {"ends", std::move(ends)}});
    }
    out << "\n";
  }
}

data::TaggedSentence raw_sentence(const InputText& line) {
  data::TaggedSentence sentence;
  for (const auto& [begin, end] : text::plain_words(line.text)) {
    sentence.words.push_back(line.text.substr(begin, end - begin));
    sentence.lines.push_back(line.line);
  }
  return sentence;
}

void write_answers(std::ostream& out, const TaskData& data, const TaskAnswers& answers, const WriteOptions& options) {
  for (std::size_t q = 0; q < data.questions.size(); ++q) {
    const data::SpanQuestion& question = data.questions[q];
    const std::string& context = *question.context;
    const auto& found = answers.spans[q];
    const bool none = found.empty() || found.front().null_score > options.null_threshold;
    Json list = Json::array();
    std::string line = escaped_field(question.id);
    if (none && !options.jsonl) line += "\t\t\t\t";
    for (std::size_t k = 0; k < found.size() && static_cast<Index>(k) < options.top; ++k) {
      const data::TextSpan place = found[k].place;
      const std::string text = context.substr(place.begin, place.end - place.begin);
      const auto begin = text::count_characters(std::string_view(context).substr(0, place.begin));
      const auto end = begin + text::count_characters(text);
      list.push_back(
          {{"text", text}, {"answer_start", begin}, {"score", found[k].score}, {"null_score", found[k].null_score}});
      if (!none) line += concatenate("\t", escaped_field(text), "\t", begin, "\t", end, "\t", found[k].score);
    }
    if (options.jsonl) {
      const Json json{{"id", question.id},
                      {"question", question.question},
                      {"answer", none ? "" : list[0]["text"].get<std::string>()},
                      {"top", list}};
      out << object_line(json, question.more) << "\n";
    } else {
      out << line << "\n";
    }
  }
}

}  // namespace heddle
