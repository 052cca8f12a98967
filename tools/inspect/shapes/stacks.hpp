// The stack of a model file whose positions or attention inspect shows.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "formats/heddle/task_file.hpp"
#include "libcore/analysis/embed.hpp"
#include "libcore/analysis/position_shapes.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/visit.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/inspect/model_fields.hpp"

namespace heddle {

// Part of a model to show.
struct StackChoice {
  std::string stack, base;
  std::vector<Index> layer{1};
  Index head = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("stack", "stack of a model that has several: encoder or decoder; by default the first")
                .not_empty()
                .takes("NAME"),
            self.stack);
    visitor(base_field(), self.base);
    visitor(Field("layer", "layers of the stack, from 1; negative numbers count from the last")
                .word(-1, "last")
                .word(analysis::all_layers, "all")
                .not_empty()
                .takes("N,...")
                .essential(),
            self.layer);
    visitor(Field("head", "head of the layers, from 1").range(1, 100000).word(0, "all").takes("N").essential(),
            self.head);
  }
};

// Throws UsageError for a stack or layers where there is no MODEL.
inline void check_choice(const cli::Arguments& arguments) {
  for (const char* of_models : {"stack", "base", "layer"}) {
    check<UsageError>(!arguments.operand("MODEL").empty() || !arguments.given(of_models), "--", of_models,
                      " belongs to a MODEL, and none is given; leave it out");
  }
}

struct ModelStack {
  // Throws DataError for a model without attention layers, UsageError for a stack that it does not have.
  ModelStack(const std::string& path, std::string_view user, const StackChoice& choice)
      : loaded(formats::load_body(path, choice.base)) {
    const std::string& name = choice.stack;
    std::vector<std::string> names;
    for (models::StackView& each : models::require<models::AttentionStacks>(*loaded.model, user, path).stacks()) {
      names.push_back(each.name);
      if (name.empty() ? names.size() == 1 : each.name == name) view = std::move(each);
    }
    const bool found = name.empty() || std::ranges::find(names, name) != names.end();
    check<UsageError>(found, "--stack ", not_one_of(name, names));
    std::erase_if(view.layers, [](const models::LayerAttention& layer) { return layer.crosses; });
    check<DataError>(!view.layers.empty(), path, ": the ", view.name, " has no layers");
  }

  // Throws UsageError for layers that are not there.
  std::set<Index> layers(const StackChoice& choice) const {
    return analysis::chosen_layers(choice.layer, 1, static_cast<Index>(view.layers.size()));
  }
  const nn::MultiHeadAttention& attention(Index layer) const {
    return *view.layers[static_cast<std::size_t>(layer - 1)].module;
  }
  analysis::PositionsInLayer positions(Index layer) const {
    const nn::MultiHeadAttention& module = attention(layer);
    return {view.positions, module.positions(), view.width, module.shape(), view.causal};
  }

  formats::LoadedModel loaded;
  models::StackView view;
};

// The heads of so many that are chosen, from 0. Throws UsageError for one that is not there.
inline std::vector<Index> chosen_heads(Index head, Index heads) {
  check<UsageError>(head <= heads, "--head ", head, ": the layer has ", counted(heads, "head", "heads"));
  if (head > 0) return {head - 1};
  std::vector<Index> all;
  for (Index i = 0; i < heads; ++i) all.push_back(i);
  return all;
}

}  // namespace heddle
