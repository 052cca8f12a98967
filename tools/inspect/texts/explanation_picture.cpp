#include "tools/inspect/texts/explanation_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/printable.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/matrix_picture.hpp"

namespace heddle {

namespace {

constexpr double word_row = 16, word_size = 11, word_edge = 12, bar_column = 150, cell_column = 16;
constexpr std::size_t most_bar_answers = 4, longest_heading = 24;
constexpr Colour supports = palette::series[1], opposes = palette::series[0];

// A colour at a strength from 0 to 1, on white.
Colour contribution_colour(double contribution, double largest) {
  Colour colour = contribution < 0 ? opposes : supports;
  colour.opacity = largest > 0 ? std::min(1.0, std::abs(contribution) / largest) : 0;
  return colour;
}

std::string heading_of(const ExplainedAnswer& answer) {
  const std::string name = shortened(printable(answer.name), longest_heading);
  return answer.of.empty() ? name : shortened(printable(answer.of), longest_heading) + ": " + name;
}

// Bars of an answer, with their numbers.
void draw_bars(Picture& picture, const analysis::Contributions& found, Point corner, double largest) {
  constexpr double room = 34, half = bar_column / 2 - room;
  const double middle = corner.x + bar_column / 2;
  for (std::size_t w = 0; w < found.words.size(); ++w) {
    const double top = corner.y + static_cast<double>(w) * word_row;
    const double length = largest > 0 ? half * std::abs(found.words[w]) / largest : 0;
    const bool is_left = found.words[w] < 0;
    picture.rectangle({is_left ? middle - length : middle, top + 3}, std::max(length, 0.5), word_row - 6,
                      is_left ? opposes : supports);
    picture.text({is_left ? middle - length - 3 : middle + length + 3, top + word_row / 2 + 0.36 * 9},
                 fmt::format("{:.2f}", found.words[w]), is_left ? Anchor::end : Anchor::start, palette::text, 9);
  }
  picture.line({middle, corner.y}, {middle, corner.y + static_cast<double>(found.words.size()) * word_row},
               {palette::text, 0.75, {}});
}

void draw_shaded_cells(Picture& picture, const analysis::Contributions& found, Point corner, double largest) {
  for (std::size_t w = 0; w < found.words.size(); ++w) {
    picture.rectangle({corner.x + 0.5, corner.y + static_cast<double>(w) * word_row + 0.5}, cell_column - 1,
                      word_row - 1, contribution_colour(found.words[w], largest));
  }
}

}  // namespace

double largest_contribution(const Explanation& explanation) {
  double largest = 0;
  for (const ExplainedAnswer& answer : explanation.answers) {
    for (const double word : answer.contributions.words) largest = std::max(largest, std::abs(word));
  }
  return largest;
}

void draw_explanation(const std::string& path, const Explanation& explanation, const std::string& title) {
  const auto words = static_cast<Index>(explanation.words.size()), answers = std::ssize(explanation.answers);
  check_picture_side(path, std::max(words, answers));
  const bool has_bars = explanation.answers.size() <= most_bar_answers;
  const double column = has_bars ? bar_column : cell_column, largest = largest_contribution(explanation);
  const Picture ruler(path, 1, 1);
  double left = 0, above = word_size;
  for (const ExplainedWord& word : explanation.words) {
    left = std::max(left, ruler.text_width(shortened(label_of(word.text), longest_heading), word_size));
  }
  for (const ExplainedAnswer& answer : explanation.answers) {
    if (!has_bars) above = std::max(above, ruler.text_width(heading_of(answer), word_size));
  }
  left = std::ceil(word_edge + left + 8);
  const double top = std::ceil(word_edge + word_size + 10 + above + 8);
  Picture picture(
      path,
      std::max(left + static_cast<double>(answers) * column, ruler.text_width(title, word_size) + word_edge) +
          word_edge,
      top + static_cast<double>(words) * word_row + word_edge);
  picture.text({word_edge, word_edge + word_size - 2}, title, Anchor::start, {}, word_size);
  for (std::size_t w = 0; w < explanation.words.size(); ++w) {
    picture.text({left - 6, top + static_cast<double>(w) * word_row + word_row / 2 + 0.36 * word_size},
                 shortened(label_of(explanation.words[w].text), longest_heading), Anchor::end, {}, word_size);
  }
  for (std::size_t a = 0; a < explanation.answers.size(); ++a) {
    const ExplainedAnswer& answer = explanation.answers[a];
    const Point corner{left + static_cast<double>(a) * column, top};
    if (has_bars) {
      picture.text({corner.x + column / 2, top - 8}, heading_of(answer), Anchor::middle, {}, word_size);
      draw_bars(picture, answer.contributions, corner, largest);
    } else {
      picture.text({corner.x + column / 2 + 0.36 * word_size, top - 5}, heading_of(answer), Anchor::start, {},
                   word_size, Direction::up);
      draw_shaded_cells(picture, answer.contributions, corner, largest);
    }
  }
  picture.save();
}

}  // namespace heddle
