// Parameters cut into slices, for rules that update each element from its own gradient and its own state: weights,
// gradients and state are read once and written once, by all threads. Of a table to whose gradient only some rows were
// added, the other rows are left out if the rule would leave them as they are.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/optimizer.hpp"

namespace heddle::training {

// Elements per parallel task: of a slice, and in other loops over parameters.
inline constexpr Index slice_elements = 32768;
// Rows per parallel task, for tables of which only some rows are visited.
inline constexpr Index rows_per_task = 256;

// The fraction of the rows of the table that these are.
double fraction_of_rows(const std::vector<Index>& rows, const Tensor& table);

// Elements of one parameter.
struct Slice {
  Real* weights;
  const Real* gradient;
  const std::vector<Real*>& state;  // state of the slice, one entry per name of the rule
  Index count;
  Real rate;  // factor of the parameter's learning rate
  bool decays;
};

// Effect of a rule on an element whose gradient is zero.
enum class Idle { moves, decays, stays };

// Whether a rule updates the parameter.
using Takes = std::function<bool(const Parameter&)>;

class Slices {
 public:
  // A state of zeros for each trained parameter, of those that are taken, and each of these names: "m" becomes
  // "m/decoder/0/…".
  Slices(
      Parameters& parameters, const Treatment& treatment, std::initializer_list<const char*> state_names,
      const Takes& takes = [](const Parameter&) { return true; });

  // The state of one parameter after the other.
  const std::vector<StateTensor>& state() const { return state_; }

  // Calls update(slice) for each slice in which the rule changes something; no two overlap.
  template <class Update>
  void for_each(Idle idle, const Update& update) const {
    Section section("optimizer");
    const std::vector<Work> work = work_of(idle);
    for (const Work& of : work) section.add_bytes(of.traffic);
    parallel_for(static_cast<Index>(ranges_.size()), [&](Index task) {
      const Range& range = ranges_[static_cast<std::size_t>(task)];
      if (work[range.of].rows) return;
      std::vector<Real*> state;
      update_range(work[range.of], range.begin, range.end, state, update);
    });
    for (const Work& of : work) {
      if (of.rows) update_rows(of, update);
    }
  }

 private:
  struct Trained {
    const Parameter* parameter;
    double rate;
    bool decays;
    std::vector<Tensor> state;
  };
  struct Range {
    std::size_t of;  // trained_
    Index begin, end;
  };
  // The work on one parameter in one step.
  struct Work {
    const Trained* trained;
    Tensor gradient;
    std::optional<std::vector<Index>> rows;  // nothing: all elements
    double traffic;                          // bytes read and written
  };
  std::vector<Work> work_of(Idle idle) const;

  // `state` is memory for pointers.
  template <class Update>
  static void update_range(const Work& work, Index begin, Index end, std::vector<Real*>& state, const Update& update) {
    state.clear();
    for (const Tensor& tensor : work.trained->state) state.push_back(tensor.data() + begin);
    const Parameter& parameter = *work.trained->parameter;
    update(Slice{parameter.value().data() + begin, work.gradient.data() + begin, state, end - begin,
                 static_cast<Real>(work.trained->rate), work.trained->decays});
  }

  template <class Update>
  static void update_rows(const Work& work, const Update& update) {
    const Index width = work.gradient.shape()[1];
    parallel_ranges(static_cast<Index>(work.rows->size()), rows_per_task, [&](Index begin, Index end) {
      std::vector<Real*> state;
      for (Index i = begin; i < end; ++i) {
        const Index first = (*work.rows)[static_cast<std::size_t>(i)] * width;
        update_range(work, first, first + width, state, update);
      }
    });
  }

  std::vector<StateTensor> state_;
  std::vector<Trained> trained_;
  std::vector<Range> ranges_;
};

}  // namespace heddle::training
