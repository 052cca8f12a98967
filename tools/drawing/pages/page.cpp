#include "tools/drawing/pages/page.hpp"

#include <algorithm>
#include <utility>

#include "libcore/base/base64.hpp"
#include "tools/cli/streams.hpp"
#include "tools/drawing/deflate.hpp"

namespace heddle {

PageParts common_parts();  // common.css and common.js

namespace {

std::string html_text(std::string_view text) {
  using Escape = std::pair<char, std::string_view>;
  constexpr Escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string result;
  for (const char& letter : text) {
    const auto found = std::ranges::find(escapes, letter, &Escape::first);
    result += found == std::end(escapes) ? std::string_view(&letter, 1) : found->second;
  }
  return result;
}

// JSON whose strings cannot end or begin an element of the page.
std::string inert(const formats::Json& data) {
  std::string result;
  for (const char& letter : data.dump()) result += letter == '<' ? "\\u003c" : std::string_view(&letter, 1);
  return result;
}

std::string page(const std::string& title, const PageParts& own, const formats::Json& data) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n";
  html += "<title>" + html_text(title) + "</title>\n";
  for (const PageParts& parts : {common_parts(), own}) {
    html.append("<style>\n").append(parts.style).append("</style>\n");
  }
  html += "</head>\n<body>\n<main id=\"main\"><noscript>This page needs JavaScript.</noscript></main>\n";
  html += "<script type=\"application/json\" id=\"data\">" + inert(data) + "</script>\n";
  for (const PageParts& parts : {common_parts(), own}) {
    html.append("<script>\n").append(parts.script).append("</script>\n");
  }
  return html + "</body>\n</html>\n";
}

}  // namespace

bool is_page_name(std::string_view path) {
  constexpr std::string_view ending = ".html";
  return path.size() > ending.size() && path.ends_with(ending);
}

std::string packed(std::string_view bytes) {
  return to_base64(deflated(bytes, Deflate::runs));
}

void write_page(const std::string& path, const std::string& title, const PageParts& own, const formats::Json& data) {
  const std::string html = page(title, own, data);
  cli::Output output(path);
  output.stream() << html;
  output.close();
}

}  // namespace heddle
