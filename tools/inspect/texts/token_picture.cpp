#include "tools/inspect/texts/token_picture.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/texts/cut_text.hpp"

namespace heddle {

namespace {

constexpr std::size_t most_drawn_tokens = 5000, longest_drawn_label = 40;
constexpr double text_width = 720, text_edge = 16, token_size = 12, below_size = 8, token_pad = 3, line_room = 34,
                 curve_room = 64;

Colour shade_colour(double shade) {
  Colour colour = palette::of_byte(0xf2, 0x8c, 0x3a);
  colour.opacity = std::clamp(shade, 0.0, 1.0);
  return colour;
}

// Place of each token, and the end of the last line.
struct TokenPlaces {
  std::vector<Point> corners;
  std::vector<double> widths;
  double bottom = 0;

  TokenPlaces(const Picture& ruler, const std::vector<DrawnToken>& tokens, double top) {
    double x = text_edge, y = top;
    const auto next_line = [&](double more) {
      x = text_edge;
      y += line_room + more;
    };
    for (const DrawnToken& token : tokens) {
      const double width = std::max(ruler.text_width(shortened(token.label, longest_drawn_label), token_size),
                                    ruler.text_width(token.below, below_size)) +
                           2 * token_pad;
      if (token.begins_text && y > top) next_line(8);
      if (x > text_edge && x + width > text_width - text_edge) next_line(0);
      corners.push_back({x, y});
      widths.push_back(width);
      x += width + 2;
      if (token.ends_line) next_line(0);
    }
    bottom = (x > text_edge ? y + line_room : y) + text_edge;
  }
};

void draw_heights(Picture& picture, const std::vector<DrawnToken>& tokens, double highest, double top) {
  std::vector<Point> points;
  const double step = (text_width - 2 * text_edge) / static_cast<double>(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    points.push_back({text_edge + (static_cast<double>(i) + 0.5) * step,
                      top + (curve_room - 12) * (1 - tokens[i].height / highest)});
  }
  const double ground = top + curve_room - 12;
  picture.line({text_edge, ground}, {text_width - text_edge, ground}, {palette::grid, 1, {}});
  picture.polyline(points, {palette::series[1], 1.25, {}});
}

}  // namespace

void draw_tokens(const std::string& path, const std::string& title, const std::vector<DrawnToken>& tokens) {
  check<UsageError>(tokens.size() <= most_drawn_tokens, path, ": a picture has at most ", grouped(most_drawn_tokens),
                    " tokens, and these are ", grouped(static_cast<long long>(tokens.size())), "; write a .tsv file");
  check<UsageError>(!tokens.empty(), path, ": there is no token to draw");
  const double highest = std::ranges::max_element(tokens, {}, &DrawnToken::height)->height;
  const double heading = text_edge + token_size + 10, top = heading + (highest > 0 ? curve_room : 0);
  const TokenPlaces places(Picture(path, 1, 1), tokens, top);
  Picture picture(path, text_width, places.bottom);
  picture.text({text_edge, text_edge + token_size - 2}, title, Anchor::start, {}, token_size);
  if (highest > 0) draw_heights(picture, tokens, highest, heading);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Point corner = places.corners[i];
    picture.rectangle(corner, places.widths[i], line_room - 4, shade_colour(tokens[i].shade));
    picture.text({corner.x + token_pad, corner.y + token_size + 1}, shortened(tokens[i].label, longest_drawn_label),
                 Anchor::start, {}, token_size);
    picture.text({corner.x + token_pad, corner.y + line_room - 8}, tokens[i].below, Anchor::start, palette::text,
                 below_size);
  }
  picture.save();
}

}  // namespace heddle
