#include "tools/inspect/texts/loss_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "tools/drawing/terminal.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/tasks/worked_records.hpp"

namespace heddle {

namespace {

constexpr int learned_colour = 157, given_colour = 250;

std::string pieces_of(const std::vector<TokenId>& ids, const text::Tokenizer& tokenizer, int colour) {
  std::vector<std::string> pieces;
  for (const TokenId id : ids) {
    pieces.push_back(printable(tokenizer.is_special(id) ? tokenizer.piece(id) : std::string(tokenizer.bytes(id))));
  }
  return colour > 0 && !pieces.empty() ? on_colour(colour, join(pieces, "│")) : join(pieces, "│");
}

void print_record(const data::TokenPair& record, const text::Tokenizer& tokenizer) {
  const bool colours = has_colours();
  std::cout << pieces_of(record.source, tokenizer, colours ? given_colour : 0) << "┃"
            << pieces_of(record.target, tokenizer, colours ? learned_colour : 0) << "\n";
}

std::string json_of(const data::TokenPair& record) {
  std::vector<TokenId> ids = record.source;
  ids.insert(ids.end(), record.target.begin(), record.target.end());
  std::vector<int> loss(record.source.size(), 0);
  loss.resize(ids.size(), 1);
  return json_line({{"ids", ids}, {"loss", loss}});
}

}  // namespace

void print_loss(const text::Tokenizer& tokenizer, const std::string& path, const std::string& mark, bool jsonl,
                const cli::Arguments& arguments) {
  const std::optional<TokenId> end = tokenizer.end_of_text();
  check<DataError>(end.has_value(), path, ": the tokenizer has no token that ends a text, so responses cannot end");
  Index given = 0, learned = 0, records = 0;
  TaskInput input = worked_input({});
  input.may_leave_out = false;
  if (const auto warning = mark_warning(mark, tokenizer)) arguments.warn(*warning);
  read_task_data(path, input, arguments, [&](const TaskData& data, formats::BadRecords& bad) {
    for (const data::LabelledText& text : data.texts) {
      bad.attempt_again(text.line, [&] {
        data::TokenPair record = encode_worked(text, mark, tokenizer, concatenate(path, ":", text.line));
        record.target.push_back(*end);
        ++records;
        given += std::ssize(record.source);
        learned += std::ssize(record.target);
        jsonl ? void(std::cout << json_of(record) << "\n") : print_record(record, tokenizer);
      });
    }
  });
  check<DataError>(records > 0, path, ": no prompt and answer");
  if (given == 0) arguments.warn(path + ": no record has a prompt, so that the loss counts every token");
  if (jsonl) return;
  const double share = static_cast<double>(learned) / static_cast<double>(given + learned);
  std::cout << fmt::format("\n{}: {} of {} are after ┃ and learned, {} %\n", counted(records, "record", "records"),
                           grouped(learned), counted(given + learned, "token", "tokens"), format_fixed(100 * share, 1));
}

}  // namespace heddle
