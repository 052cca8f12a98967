// A field of every kind, for the tests of heddle/cli.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/help.hpp"

namespace toy {

using heddle::Field;
using heddle::Index;

enum class Action {
  copy,
  listen,
  data_error,
  numeric_error,
  foreign_error,
  field_error,
  out_of_memory,
  flood,
  wait,
  stay
};
enum class Activation { relu, gelu };

}  // namespace toy

template <>
struct heddle::Names<toy::Action> {
  static constexpr std::pair<toy::Action, std::string_view> list[] = {{toy::Action::copy, "copy"},
                                                                      {toy::Action::listen, "listen"},
                                                                      {toy::Action::data_error, "data-error"},
                                                                      {toy::Action::numeric_error, "numeric-error"},
                                                                      {toy::Action::foreign_error, "foreign-error"},
                                                                      {toy::Action::field_error, "field-error"},
                                                                      {toy::Action::out_of_memory, "out-of-memory"},
                                                                      {toy::Action::flood, "flood"},
                                                                      {toy::Action::wait, "wait"},
                                                                      {toy::Action::stay, "stay"}};
};

template <>
struct heddle::Names<toy::Activation> {
  static constexpr std::pair<toy::Activation, std::string_view> list[] = {{toy::Activation::relu, "relu"},
                                                                          {toy::Activation::gelu, "gelu"}};
};

namespace toy {

struct Shape {
  Index layers = 4;
  double dropout = 0.1;
  bool bias = true;
  Activation activation = Activation::gelu;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("layers", "number of blocks").range(1, 1000), self.layers);
    visitor(Field("dropout", "fraction of values that training sets to zero").range(0, 1), self.dropout);
    visitor(Field("bias", "linear layers without a bias"), self.bias);
    visitor(Field("activation", "non-linearity of the feed-forward layers"), self.activation);
  }
};

struct Options {
  std::string output = "-";
  Action action = Action::copy;
  bool fast = false;
  Index speed = 1;
  Index depth = 0;
  double learning_rate = 1e-3;
  std::vector<Index> sizes{1, 2};
  std::vector<double> rates;
  std::vector<std::string> stop;
  Shape shape;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("output", "where the result goes").letter('o').takes("FILE").essential(), self.output);
    visitor(Field("action",
                  "what to do with the input, or instead of it: this help text is long enough to be "
                  "broken into several lines"),
            self.action);
    visitor(Field("fast", "hurry"), self.fast);
    visitor(Field("speed", "how much").needs({"fast", "action=flood"}), self.speed);
    visitor(Field("depth", "how far down").range(1).word(0, "auto").formerly("deepness"), self.depth);
    visitor(Field("learning_rate", "step length; `fast` doubles it").above(0), self.learning_rate);
    visitor(Field("sizes", "sizes of something").range(1, 9), self.sizes);
    visitor(Field("rates", "rates of something"), self.rates);
    visitor(Field("stop", "texts that end the output"), self.stop);
    visitor(Field("shape", "Shape of the model"), self.shape);
  }
};

inline heddle::cli::About about() {
  return {.name = "toy",
          .summary = "Copies lines, or fails in a way of your choice.",
          .synopsis = {"[--action NAME] [-o FILE] [FILE...]"},
          .operands = {{"FILE", "text to copy; none or - is standard input", 0, heddle::cli::any_number}}};
}

}  // namespace toy
