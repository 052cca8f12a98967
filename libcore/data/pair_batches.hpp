// Batches of pairs of like lengths, for training sequence-to-sequence models.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "libcore/base/visit.hpp"
#include "libcore/data/framing.hpp"
#include "libcore/data/pair_source.hpp"

namespace heddle::data {

inline Field batch_tokens_field() {
  return Field("batch_tokens",
               "maximum number of tokens in a micro-batch, of its sources or of its targets, padding included; auto: "
               "`batch_size` pairs")
      .range(1, 1000000000)
      .word(0, "auto")
      .takes("N");
}

struct PairOptions {
  Index batch_tokens = 0;  // 0: micro-batches of batch_size pairs
  Index max_length = 0;    // 0: as many as the model can hold

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(batch_tokens_field(), self.batch_tokens);
    visitor(Field("max_length",
                  "leave out pairs of which a side has more tokens, and report how many; auto: what the model can hold")
                .range(1, 1000000000)
                .word(0, "auto")
                .takes("N"),
            self.max_length);
  }
};

// A pair as a model reads it: the source, and the target, of which the model reads all but the last token and predicts
// all but the first `given`.
struct FramedPair {
  std::vector<TokenId> source, target;
  Index given = 1;
};

// Special tokens around the texts of a pair. A target that is read apart from its source begins with the start token
// and what its frame begins with, which are given; one that continues its source is one text with it, of which the
// source is given, or the start token where that is empty, and has only the frame's end.
struct PairFrames {
  TextFrame source, target;
  TokenId start;
  bool continues = false;

  // Tokens that the model reads of either side of a pair of such texts.
  PairLengths lengths(Index of_source, Index of_target) const;
  FramedPair around(const TokenPair& texts) const;
};

// The limits of a group of pairs.
struct GroupLimits {
  Index batch_size;  // pairs in a group, where batch_tokens is 0
  PairOptions options{};
  Index max_source, max_target;  // tokens that the model can read of each side
};

// Groups of pairs of like lengths: sorted by the length of the target, then of the source, a group has as many pairs as
// its limits allow. In each epoch, pairs of equal lengths are in another random order, and so are the groups. Group g
// of all epochs, one after the other, is a function of (seed, g). Of pairs that are new in each epoch, an epoch has a
// twentieth fewer groups than the first one would fill, so that each epoch has as many.
class PairGroups {
 public:
  // Throws DataError where no pair is left.
  PairGroups(const PairSource& pairs, const PairFrames& frames, const GroupLimits& limits, std::uint64_t seed);

  Index groups_per_epoch() const { return groups_per_epoch_; }
  Index largest() const { return largest_; }    // pairs in a group, at most
  Index longest() const { return longest_; }    // tokens that the model reads of a side of a pair, at most
  Index left_out() const { return left_out_; }  // pairs that are too long
  // Tokens of a side of a pair, with its frame.
  double mean_source() const { return mean_source_; }
  double mean_target() const { return mean_target_; }
  double mean_predicted() const { return mean_predicted_; }
  const PairSource& source() const { return pairs_; }

  // The numbers of its pairs.
  std::vector<Index> pairs_of(Index group) const;
  std::vector<FramedPair> group(Index group) const;

 private:
  struct Group {
    Index begin, count;  // range in the sorted order
  };
  PairLengths lengths_of(Index pair) const;
  bool fits(const PairLengths& texts, const PairLengths& read) const;
  // Sets sorted_ and groups_. Throws DataError where no pair is left.
  void arrange(Index epoch) const;
  // One of each pair that fits in the epoch: tokens that are read of its target and its source, its place among equals,
  // and its number; in their order.
  using Place = std::tuple<Index, Index, double, Index>;
  std::vector<Place> sorted() const;
  void measure();

  const PairSource& pairs_;
  PairFrames frames_;
  GroupLimits limits_;
  std::uint64_t seed_;
  Index groups_per_epoch_, largest_ = 0, longest_ = 0, left_out_ = 0;
  double mean_source_ = 0, mean_target_ = 0, mean_predicted_ = 0;
  mutable Index epoch_ = -1;
  mutable std::vector<Index> sorted_;  // pairs that are short enough, in the order of the epoch
  mutable std::vector<Group> groups_;
};

}  // namespace heddle::data
