#include "tools/drawing/picture.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/tensor/threads.hpp"
#include "tools/cli/streams.hpp"
#include "tools/drawing/png.hpp"

#ifdef HEDDLE_SANITIZED
// Fontconfig keeps the patterns of fonts until the process ends, some of them unreachable: not a leak of heddle.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\n";
}
extern "C" const char* __lsan_default_options() {
  return "print_suppressions=0";
}
#endif

namespace heddle {

namespace {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using Surface = std::unique_ptr<cairo_surface_t, Release<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Release<cairo_destroy>>;
using FontOptions = std::unique_ptr<cairo_font_options_t, Release<cairo_font_options_destroy>>;
using FontFace = std::unique_ptr<cairo_font_face_t, Release<cairo_font_face_destroy>>;
using Layout = std::unique_ptr<PangoLayout, Release<g_object_unref>>;
using ScaledFont = std::unique_ptr<cairo_scaled_font_t, Release<cairo_scaled_font_destroy>>;

// Called by Cairo, so it must not throw.
cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) {
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (...) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

Surface svg_surface(std::string& bytes, double width, double height) {
  Surface surface(cairo_svg_surface_create_for_stream(append, &bytes, width, height));
  cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
  return surface;
}

Surface pdf_surface(std::string& bytes, double width, double height) {
  Surface surface(cairo_pdf_surface_create_for_stream(append, &bytes, width, height));
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
  return surface;
}

class ImagePixels {
 public:
  explicit ImagePixels(cairo_surface_t* surface)
      : data_(cairo_image_surface_get_data(surface)),
        stride_(cairo_image_surface_get_stride(surface)),
        width_(cairo_image_surface_get_width(surface)),
        height_(cairo_image_surface_get_height(surface)) {}
  std::uint32_t* row(Index y) const { return reinterpret_cast<std::uint32_t*>(data_ + y * stride_); }
  PixelRows rows() const { return {row(0), width_, height_, stride_ / static_cast<Index>(sizeof(std::uint32_t))}; }

 private:
  unsigned char* data_;
  Index stride_, width_, height_;
};

Surface png_surface(std::string&, double width, double height) {
  constexpr double scale = Picture::pixels_per_point;
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width * scale)),
                                             static_cast<int>(std::ceil(height * scale))));
  cairo_surface_set_device_scale(surface.get(), scale, scale);
  return surface;
}

struct Form {
  std::string_view ending;
  Surface (*open)(std::string& bytes, double width, double height);
};
constexpr Form forms[] = {{".svg", svg_surface}, {".png", png_surface}, {".pdf", pdf_surface}};

const Form* form_of(std::string_view path) {
  for (const Form& form : forms) {
    if (path.size() > form.ending.size() && path.ends_with(form.ending)) return &form;
  }
  return nullptr;
}

// Independent of the screen's settings.
FontOptions font_options() {
  FontOptions options(cairo_font_options_create());
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  return options;
}

bool is_usable(cairo_font_face_t* face, const cairo_font_options_t* options) {
  cairo_matrix_t identity;
  cairo_matrix_init_identity(&identity);
  const ScaledFont font(cairo_scaled_font_create(face, &identity, &identity, options));
  return cairo_scaled_font_status(font.get()) == CAIRO_STATUS_SUCCESS;
}

FontFace font_face(const char* family) {
  return FontFace(cairo_toy_font_face_create(family, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL));
}

// Null where the system has no font.
Layout layout_of(cairo_t* context, const cairo_font_options_t* options) {
  if (!is_usable(font_face("sans-serif").get(), options)) return nullptr;
  Layout layout(pango_cairo_create_layout(context));
  pango_cairo_context_set_font_options(pango_layout_get_context(layout.get()), options);
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
  return layout;
}

void set(cairo_t* context, const Colour& colour) {
  cairo_set_source_rgba(context, colour.red, colour.green, colour.blue, colour.opacity);
}

void stroke(cairo_t* context, const Pen& pen) {
  set(context, pen.colour);
  cairo_set_line_width(context, pen.width);
  cairo_set_dash(context, pen.dashes.data(), static_cast<int>(pen.dashes.size()), 0);
  cairo_stroke(context);
}

constexpr Index rows_at_once = 32;          // for a thread
constexpr Index most_thorough = 8'000'000;  // pixels; of more, only runs are compressed

std::string png_file(const PixelRows& pixels) {
  return png_of(pixels, pixels.width * pixels.height > most_thorough ? Deflate::runs : Deflate::thorough);
}

// Cairo would make a PNG of its own, which takes ten times as long.
void set_png(cairo_surface_t* surface) {
  auto png = std::make_unique<std::string>(png_of(ImagePixels(surface).rows(), Deflate::runs));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(png->data());
  const cairo_status_t status = cairo_surface_set_mime_data(
      surface, CAIRO_MIME_TYPE_PNG, bytes, png->size(), [](void* text) { delete static_cast<std::string*>(text); },
      png.get());
  if (status == CAIRO_STATUS_SUCCESS) png.release();
}

// Bounds of cells along a side, in whole pixels.
std::vector<Index> pixel_edges(double begin, double length, Index cells) {
  std::vector<Index> edges;
  for (Index i = 0; i <= cells; ++i) {
    const double at = begin + length * static_cast<double>(i) / static_cast<double>(cells);
    edges.push_back(std::llround(Picture::pixels_per_point * at));
  }
  return edges;
}

// Colours of cells, one after the other, become those of the pixels between these edges, in place.
void widen(std::uint32_t* colours, const std::vector<Index>& edges) {
  for (std::size_t i = edges.size() - 1; i-- > 0;) {
    const std::uint32_t colour = colours[i];
    std::fill(colours + (edges[i] - edges[0]), colours + (edges[i + 1] - edges[0]), colour);
  }
}

// Avoids Cairo, which copies all pixels once more, on one thread.
void paint_cells(cairo_surface_t* surface, Point corner, double width, double height, const Cells& cells) {
  cairo_surface_flush(surface);
  const ImagePixels pixels(surface);
  const std::vector<Index> across = pixel_edges(corner.x, width, cells.columns),
                           down = pixel_edges(corner.y, height, cells.rows);
  const Index left = across.front(), count = across.back() - left;
  parallel_ranges(cells.rows, rows_at_once, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index top = down[static_cast<std::size_t>(row)], bottom = down[static_cast<std::size_t>(row) + 1];
      std::uint32_t* const first = pixels.row(top) + left;
      cells.paint(row, first);
      if (count != cells.columns) widen(first, across);
      for (Index y = top + 1; y < bottom; ++y) std::copy_n(first, count, pixels.row(y) + left);
    }
  });
  cairo_surface_mark_dirty(surface);
}

}  // namespace

struct Picture::Canvas {
  Canvas(const Form& form_of_file, double width, double height)
      : form(form_of_file), surface(form.open(bytes, width, height)), context(cairo_create(surface.get())) {
    const FontOptions options = font_options();
    cairo_set_font_options(context.get(), options.get());
    layout = layout_of(context.get(), options.get());
    // Cairo's own font has only ASCII, but is always available.
    if (layout == nullptr) cairo_set_font_face(context.get(), font_face("@cairo:").get());
    cairo_set_line_join(context.get(), CAIRO_LINE_JOIN_ROUND);
  }

  bool is_image() const { return cairo_surface_get_type(surface.get()) == CAIRO_SURFACE_TYPE_IMAGE; }
  bool is_svg() const { return cairo_surface_get_type(surface.get()) == CAIRO_SURFACE_TYPE_SVG; }

  const Form& form;
  std::string bytes;  // declared before its users
  Surface surface;
  Context context;
  Layout layout;  // null: text is drawn in the font of the context

  // Sets the line of the layout, or the size of the font; returns the width.
  double set_line(const std::string& line, double size) const {
    if (layout == nullptr) {
      cairo_set_font_size(context.get(), size);
      cairo_text_extents_t extents;
      cairo_text_extents(context.get(), line.c_str(), &extents);
      return extents.x_advance;
    }
    PangoFontDescription* const font = pango_font_description_from_string("sans-serif");
    pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
    pango_layout_set_font_description(layout.get(), font);
    pango_font_description_free(font);
    pango_layout_set_text(layout.get(), line.c_str(), static_cast<int>(line.size()));
    int width = 0, height = 0;
    pango_layout_get_size(layout.get(), &width, &height);
    return static_cast<double>(width) / PANGO_SCALE;
  }
};

bool Picture::is_name(std::string_view path) {
  return form_of(path) != nullptr;
}

Picture::Picture(const std::string& path, double width, double height) : path_(path) {
  const Form* const form = form_of(path);
  check<UsageError>(form != nullptr, path, ": a picture ends in .svg, .png or .pdf");
  canvas_ = std::make_unique<Canvas>(*form, width, height);
  check_drawn();
  rectangle({0, 0}, width, height, {1, 1, 1});
}

Picture::~Picture() = default;

void Picture::check_drawn() const {
  const cairo_status_t status = cairo_status(canvas_->context.get());
  check<DataError>(status == CAIRO_STATUS_SUCCESS, path_, ": cannot be drawn: ", cairo_status_to_string(status));
}

void Picture::line(Point from, Point to, const Pen& pen) {
  const Point ends[] = {from, to};
  polyline(ends, pen);
}

void Picture::polyline(std::span<const Point> points, const Pen& pen) {
  for (const Point& point : points) cairo_line_to(canvas_->context.get(), point.x, point.y);
  stroke(canvas_->context.get(), pen);
}

void Picture::disc(Point centre, double radius, const Colour& colour) {
  cairo_arc(canvas_->context.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  set(canvas_->context.get(), colour);
  cairo_fill(canvas_->context.get());
}

void Picture::circle(Point centre, double radius, const Pen& pen) {
  cairo_arc(canvas_->context.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  stroke(canvas_->context.get(), pen);
}

void Picture::rectangle(Point corner, double width, double height, const Colour& colour) {
  cairo_rectangle(canvas_->context.get(), corner.x, corner.y, width, height);
  set(canvas_->context.get(), colour);
  cairo_fill(canvas_->context.get());
}

void Picture::cells(Point corner, double width, double height, const Cells& cells) {
  if (canvas_->is_image()) {
    paint_cells(canvas_->surface.get(), corner, width, height, cells);
  } else {
    embed_cells(corner, width, height, cells);
  }
}

// As an image with a pixel for each cell.
void Picture::embed_cells(Point corner, double width, double height, const Cells& cells) {
  cairo_t* const context = canvas_->context.get();
  const auto columns = static_cast<int>(cells.columns), rows = static_cast<int>(cells.rows);
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows));
  check<DataError>(cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS, path_, ": ", rows, " x ", columns,
                   " cells cannot be drawn");
  const ImagePixels pixels(surface.get());
  parallel_ranges(cells.rows, rows_at_once, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) cells.paint(row, pixels.row(row));
  });
  cairo_surface_mark_dirty(surface.get());
  if (canvas_->is_svg()) set_png(surface.get());
  cairo_save(context);
  cairo_translate(context, corner.x, corner.y);
  cairo_scale(context, width / columns, height / rows);
  cairo_set_source_surface(context, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_NEAREST);
  cairo_rectangle(context, 0, 0, columns, rows);
  cairo_fill(context);
  cairo_restore(context);
}

void Picture::text(Point at, std::string_view content, Anchor anchor, const Colour& colour, double size,
                   Direction direction) {
  cairo_t* const context = canvas_->context.get();
  const std::string shown = printable(content);
  const double width = canvas_->set_line(shown, size);
  const double before = anchor == Anchor::start ? 0 : anchor == Anchor::middle ? 0.5 : 1;
  set(context, colour);
  cairo_save(context);
  cairo_translate(context, at.x, at.y);
  if (direction == Direction::up) cairo_rotate(context, -std::numbers::pi / 2);
  cairo_move_to(context, -before * width, 0);
  if (canvas_->layout == nullptr) {
    cairo_show_text(context, shown.c_str());
  } else {
    pango_cairo_update_layout(context, canvas_->layout.get());
    pango_cairo_show_layout_line(context, pango_layout_get_line_readonly(canvas_->layout.get(), 0));
  }
  cairo_new_path(context);
  cairo_restore(context);
}

double Picture::text_width(std::string_view content, double size) const {
  return canvas_->set_line(printable(content), size);
}

void Picture::save() {
  check_drawn();
  cairo_surface_t* const surface = canvas_->surface.get();
  cairo_surface_flush(surface);
  if (canvas_->is_image()) canvas_->bytes = png_file(ImagePixels(surface).rows());
  canvas_->context.reset();
  cairo_surface_finish(surface);
  const cairo_status_t status = cairo_surface_status(surface);
  check<DataError>(status == CAIRO_STATUS_SUCCESS, path_, ": cannot be drawn: ", cairo_status_to_string(status));
  cli::Output output(path_);
  output.stream() << canvas_->bytes;
  output.close();
}

}  // namespace heddle
