#include "tools/convert/tags.hpp"

#include <map>
#include <set>

#include "formats/files/lines.hpp"
#include "formats/labelled/conll.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/tasks/data_warnings.hpp"

namespace heddle {

namespace {

using formats::LabelledFormat;

// The tags of the other scheme, by sentence, and the types of the entities.
struct OtherTags {
  std::vector<std::vector<std::string>> tags;
  std::set<std::string> types;
  Index entities = 0;
};

OtherTags other_tags(const TaskData& data, metrics::TagScheme scheme, const metrics::TagStyle& style) {
  OtherTags other;
  for (const data::TaggedSentence& sentence : data.sentences) {
    const std::vector<metrics::Entity> entities = metrics::entities(sentence.tags, style.mark);
    for (const metrics::Entity& entity : entities) other.types.insert(entity.type);
    other.entities += std::ssize(entities);
    other.tags.push_back(metrics::tags_of(entities, std::ssize(sentence.words), scheme, style));
  }
  return other;
}

void write_lines(std::ostream& out, std::string_view content, const TaskData& data, const OtherTags& other,
                 const formats::LabelledInput& input, bool is_conllu) {
  std::map<Index, const std::string*> tag_of_line;
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    for (std::size_t w = 0; w < other.tags[s].size(); ++w) tag_of_line[data.sentences[s].lines[w]] = &other.tags[s][w];
  }
  formats::for_each_line(content, data.file, [&](std::string_view line, const formats::Place& place) {
    const auto tag = tag_of_line.find(place.line);
    const bool is_word = tag != tag_of_line.end();
    out << (is_word ? formats::with_tag(line, input.columns.label, *tag->second, is_conllu) : std::string(line))
        << "\n";
  });
}

void write_words(std::ostream& out, const TaskData& data, const OtherTags& other) {
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    const std::vector<std::string>& words = data.sentences[s].words;
    for (std::size_t w = 0; w < words.size(); ++w) out << escaped_field(words[w]) << "\t" << other.tags[s][w] << "\n";
    out << "\n";
  }
}

}  // namespace

void convert_tags(const std::string& path, const std::string& output, metrics::TagScheme scheme,
                  const formats::LabelledInput& input, const cli::Arguments& arguments) {
  const LabelledFormat format = formats::sentence_format(path, input);
  cli::Input source = open_labelled(path, input, arguments);
  const std::string content = cli::read_all(source);
  const TaskData data =
      read_task_content(content, source.name(), {.labelled = input, .task = models::Task::label}, arguments);
  for (const auto& warning : {numbered_tags_warning(data), wrong_tags_warning(data), widened_entities_warning(data)}) {
    if (warning) arguments.warn(*warning);
  }
  const std::optional<metrics::FoundTags> found = scheme_of(data);
  check<DataError>(found.has_value(), data.file,
                   ": the tags mark no entities, as B-PER, I-PER and O do, or the column ",
                   "of the tags is another one (--label-column)");
  const OtherTags other = other_tags(data, scheme, found->style);
  cli::Output file(output);
  const bool is_conllu = format == LabelledFormat::conllu;
  if (is_conllu || format == LabelledFormat::conll) {
    write_lines(file.stream(), content, data, other, input, is_conllu);
  } else {
    write_words(file.stream(), data, other);
  }
  file.close();
  arguments.say(concatenate(output, ": ", counted(data.size(), "sentence", "sentences"), " with ",
                            counted(other.entities, "entity", "entities"), " of ",
                            counted(std::ssize(other.types), "type", "types"), ", from ", name_of_scheme(found->scheme),
                            " to ", name_of_scheme(scheme)));
}

}  // namespace heddle
