// Message passing: nodes add up, or take the largest of, what their neighbours say (Gilmer et al. 2017; GIN, Xu et al.
// 2019). Layers have residual connections with a norm before them.
#include "libcore/nn/message_passing.hpp"
#include "libcore/models/graph_model.hpp"

namespace heddle::models {

namespace {

struct MessagePassingConfig : GraphModelConfig {
  static constexpr const char* kind_name = "message-passing";
  std::string messages = "source";
  std::string reduction = "sum";
  std::string update = "gin";
  Index ffn_width = 0;
  std::string activation = "relu";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    GraphModelConfig::visit(self, visitor);
    visitor(Field("messages",
                  "contents of a message; source: the state of the source and the edge (GIN, GINE); both: a layer of "
                  "both ends and the edge")
                .one_of(names_of<Messages>())
                .takes("NAME"),
            self.messages);
    visitor(Field("reduction", "how the messages that reach a node are combined")
                .one_of(names_of<Reduction>())
                .takes("NAME"),
            self.reduction);
    visitor(Field("update", "gin: two layers of (1 + epsilon) state + messages; linear: one layer of both")
                .one_of(names_of<NodeUpdate>())
                .takes("NAME"),
            self.update);
    visitor(Field("ffn_width", "inner width of the two layers; auto means 2 width")
                .range(1, 10000000)
                .word(0, "auto")
                .takes("N"),
            self.ffn_width);
    visitor(Field("activation", "non-linearity of the update").one_of(names_of<Activation>()).takes("NAME"),
            self.activation);
  }
};

}  // namespace

// Parameters of layer i: message-passing/i/norm, message-passing/i/messages/….
class MessagePassingModel : public GraphModel {
 public:
  MessagePassingModel(const MessagePassingConfig& config, ParameterSource weights)
      : GraphModel(config, config, std::move(weights), "message-passing"),
        activation_(from_text<Activation>(config.activation)),
        is_linear_(config.update == "linear") {
    const Index inner = config.ffn_width > 0 ? config.ffn_width : 2 * config.width;
    for (Index i = 0; i < config.layers; ++i) {
      const Scope at = scope("message-passing") / i;
      layers_.push_back({nn::Norm(at / "norm", config.width, {}),
                         nn::MessagePassing(at / "messages", {.width = config.width,
                                                              .edge_width = edge_width(),
                                                              .messages = from_text<Messages>(config.messages),
                                                              .reduction = from_text<Reduction>(config.reduction),
                                                              .update = from_text<NodeUpdate>(config.update),
                                                              .inner_width = inner,
                                                              .activation = activation_,
                                                              .stddev = nn::stddev_by_inputs(config.width),
                                                              .output_stddev = nn::stddev_by_inputs(inner)}),
                         random_site(at.path() + "/dropout")});
    }
  }

 private:
  struct Layer {
    nn::Norm norm;
    nn::MessagePassing messages;
    std::uint64_t site;
  };

  Surroundings surroundings(const data::GraphBatch&, nn::GraphEdges edges) const override { return {std::move(edges)}; }
  Variable layer(Index number, const Variable& x, const Surroundings& around, const Pass& pass) const override {
    const Layer& here = layers_[static_cast<std::size_t>(number)];
    const Variable heard = here.messages(here.norm(x, nn::Norm::Result::residual), around.edges, pass);
    return added(x, is_linear_ ? ops::activate(heard, activation_) : heard, here.site, around.edges, pass);
  }

  Activation activation_;
  bool is_linear_;
  std::vector<Layer> layers_;
};

Architecture describe_MessagePassingModel() {
  return describe<MessagePassingModel, MessagePassingConfig>({}, {.epochs = 50, .batch_size = 32});
}

}  // namespace heddle::models
