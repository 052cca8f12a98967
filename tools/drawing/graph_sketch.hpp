// Drawings of graphs: molecules as chemists draw them, others as discs and lines.
#pragma once

#include <string>
#include <vector>

#include "libcore/data/graphs.hpp"
#include "tools/drawing/picture.hpp"

namespace heddle {

// Parts of a drawing, in points from its upper left corner.
struct GraphSketch {
  struct Line {
    Point from, to;
    bool is_dashed = false;
  };
  struct Disc {
    Point centre;
    Colour colour;
  };
  struct Sign {
    Point middle;  // middle of its capitals
    std::string text;
    Colour colour;
    double size;
  };

  double width = 0, height = 0;
  std::vector<Point> nodes;        // positions of the nodes
  std::vector<std::string> names;  // printable: the symbol of an element, the name or the kind of a node, or ""
  // In the order in which they are drawn.
  std::vector<Line> lines;
  std::vector<Disc> discs;
  std::vector<Sign> signs;
};

inline constexpr double sketch_pen = 1.4, sketch_disc = 9;  // width of lines, radius of discs

// Printable names of nodes, as GraphSketch has them.
std::vector<std::string> node_names(const data::GraphRecord& record, const data::GraphSchema& schema);

inline constexpr Index most_sketched_nodes = 1000;  // a drawing of more is unreadable

// A graph with positions is a molecule, and so is one whose nodes have the feature "element". Carbon has no sign where
// it has a bond and no charge; hydrogens stand beside the sign of their atom; the feature "order" of edges says how
// many lines they are: of an aromatic bond, the second one is dashed. Nodes of other graphs are discs with the colour
// of their first feature, and those without positions stand where analysis::graph_layout() puts them.
// Precondition: at most most_sketched_nodes.
GraphSketch sketch_of(const data::GraphRecord& record, const data::GraphSchema& schema);

// Draws it with its upper left corner at a point, all of it so many times as large.
void draw_sketch(Picture& picture, const GraphSketch& sketch, Point corner, double scale);

}  // namespace heddle
