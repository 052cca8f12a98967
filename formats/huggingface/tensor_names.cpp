#include "formats/huggingface/tensor_names.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

constexpr char layer_mark = '#';

// The number at the mark; "" if the name has none.
std::string number_in(std::string_view name, std::string_view pattern) {
  const std::size_t mark = pattern.find(layer_mark);
  if (mark == pattern.npos || !name.starts_with(pattern.substr(0, mark))) return "";
  const std::size_t end = std::min(name.find_first_not_of("0123456789", mark), name.size());
  return std::string(name.substr(mark, end - mark));
}

std::string with_number(std::string_view pattern, std::string_view number) {
  std::string name(pattern);
  const std::size_t mark = name.find(layer_mark);
  if (mark != name.npos) name.replace(mark, 1, number);
  return name;
}

bool matches(std::string_view name, std::string_view pattern) {
  return name == with_number(pattern, number_in(name, pattern));
}

// Name without the prefix and with the newer ending.
std::string standard_name(const TensorNames& names, std::string_view foreign) {
  std::string name(foreign.substr(foreign.starts_with(names.prefix) ? names.prefix.size() : 0));
  for (const auto& [older, newer] : names.endings) {
    if (name.ends_with(older)) return name.replace(name.size() - older.size(), older.size(), newer);
  }
  return name;
}

// A rule for one layer, with the parameters, all of one shape, that it makes.
struct Assignment {
  std::string foreign;
  std::vector<std::string> parameters;
  Shape shape;
  TensorRule::Form form;

  Shape stacked_shape() const {
    Shape stack = shape;
    if (parameters.size() > 1) stack.set(0, shape[0] * static_cast<Index>(parameters.size()));
    return stack;
  }
  Shape foreign_shape() const {
    const Shape stack = stacked_shape();
    if (form == TensorRule::Form::row) return {1, stack[0]};
    return form == TensorRule::Form::plain ? stack : Shape{stack[1], stack[0]};
  }
};

// The assignments that make the given parameters, in their order.
std::vector<Assignment> assign(const TensorNames& names, std::span<const ParameterShape> parameters) {
  std::vector<Assignment> assignments;
  std::set<std::string_view> known;
  for (const ParameterShape& parameter : parameters) known.insert(parameter.name);
  for (const ParameterShape& parameter : parameters) {
    for (const TensorRule& rule : names.rules) {
      if (!matches(parameter.name, rule.parameters[0])) continue;
      const std::string number = number_in(parameter.name, rule.parameters[0]);
      const auto has = [&](std::string_view other) { return known.contains(with_number(other, number)); };
      if ((!rule.beside.empty() && !has(rule.beside)) || (!rule.without.empty() && has(rule.without))) continue;
      Assignment assignment{with_number(rule.foreign, number), {}, parameter.shape, rule.form};
      for (const std::string_view part : rule.parameters) assignment.parameters.push_back(with_number(part, number));
      assignments.push_back(std::move(assignment));
    }
  }
  return assignments;
}

// Problems of one kind; the first few are reported.
class Complaints {
 public:
  explicit Complaints(std::string kind) : kind_(std::move(kind)) {}
  template <class... Parts>
  void add(const Parts&... parts) {
    told_.push_back(concatenate(parts...));
  }
  void append_to(std::vector<std::string>& all) const {
    if (!told_.empty()) all.push_back(kind_ + " " + join_first(told_, 5));
  }

 private:
  std::string kind_;
  std::vector<std::string> told_;
};

class Importer {
 public:
  Importer(const TensorNames& names, std::span<const Safetensor> tensors, const std::string& where) : names_(names) {
    for (const Safetensor& tensor : tensors) {
      const auto [other, is_new] = tensors_.emplace(standard_name(tensor.name), &tensor);
      check<DataError>(is_new, where, ": ", text::quoted(tensor.name), " and ", text::quoted(other->second->name),
                       " are the same tensor");
    }
  }

  const Safetensor* find(std::string_view foreign) {
    const auto found = tensors_.find(standard_name(foreign));
    if (found == tensors_.end()) return nullptr;
    used_.insert(found->first);
    return found->second;
  }

  // Adds tensors that no rule uses to the problems; copies must be equal to their originals.
  void check_rest(Complaints& unknown, Complaints& unequal) {
    for (const auto& [name, tensor] : tensors_) {
      if (used_.contains(name) || is_ignored(name) || is_absent(names_, *tensor)) continue;
      bool is_copy = false;
      for (const auto& [second_name, original_name] : names_.copies) {
        if (standard_name(second_name) != name) continue;
        is_copy = true;
        const Safetensor* original = find(original_name);
        if (original != nullptr && !equal(*tensor, *original)) unequal.add(tensor->name, " and ", original->name);
      }
      if (!is_copy) unknown.add(text::quoted(tensor->name));
    }
  }

 private:
  std::string standard_name(std::string_view foreign) const { return formats::standard_name(names_, foreign); }
  bool is_ignored(std::string_view name) const {
    return std::ranges::any_of(names_.ignored,
                               [&](std::string_view pattern) { return matches(name, standard_name(pattern)); });
  }
  static bool equal(const Safetensor& a, const Safetensor& b) {
    return a.type == b.type && a.shape == b.shape && std::ranges::equal(a.elements, b.elements);
  }

  const TensorNames& names_;
  std::map<std::string, const Safetensor*> tensors_;
  std::set<std::string> used_;
};

// A foreign tensor as parameters have it, Reals where those are vectors.
Tensor from_form(const Tensor& tensor, TensorRule::Form form) {
  const Tensor whole = form == TensorRule::Form::row ? tensor.reshaped({tensor.size()}) : tensor;
  if (whole.rank() != 2) return whole.as(DType::real);
  return form == TensorRule::Form::plain ? whole : whole.swapped(0, 1).copy();
}

Tensor to_form(const Tensor& tensor, TensorRule::Form form) {
  if (form == TensorRule::Form::row) return tensor.reshaped({1, tensor.size()});
  return form == TensorRule::Form::plain ? tensor : tensor.swapped(0, 1).copy();
}

std::string shape_text(const std::vector<Index>& shape) {
  return shape.size() <= Shape::max_rank ? Shape(shape).text() : concatenate("of ", shape.size(), " dimensions");
}

Tensor stacked(const std::vector<Tensor>& parts, const Shape& shape) {
  const bool bfloat16 = std::ranges::all_of(parts, [](const Tensor& part) { return part.dtype() == DType::bfloat16; });
  const DType dtype = bfloat16 ? DType::bfloat16 : DType::real;
  if (parts.size() == 1) return parts[0].as(dtype);
  const Tensor whole(shape, dtype);
  Index row = 0;
  for (const Tensor& part : parts) {
    whole.narrowed(0, row, part.shape()[0]).assign(part);
    row += part.shape()[0];
  }
  return whole;
}

using Plan = std::vector<std::pair<Assignment, const Safetensor*>>;

Plan make_plan(const TensorNames& names, std::span<const Safetensor> tensors,
               std::span<const ParameterShape> parameters, const std::string& where) {
  Importer importer(names, tensors, where);
  Complaints missing("lacks"), misshapen("has in another shape:"), unequal("has tensors that should be equal:"),
      unknown("has tensors that heddle does not support:");
  Plan plan;
  for (const Assignment& assignment : assign(names, parameters)) {
    const Safetensor* tensor = importer.find(assignment.foreign);
    if (tensor == nullptr) {
      missing.add(assignment.foreign);
    } else if (tensor->shape != assignment.foreign_shape().extents()) {
      misshapen.add(tensor->name, " ", shape_text(tensor->shape), " instead of ", assignment.foreign_shape());
    } else {
      plan.emplace_back(assignment, tensor);
    }
  }
  importer.check_rest(unknown, unequal);
  std::vector<std::string> problems;
  for (const Complaints* complaints : {&missing, &misshapen, &unequal, &unknown}) complaints->append_to(problems);
  check<DataError>(problems.empty(), where, ": ", join(problems, "; "));
  return plan;
}

}  // namespace

std::vector<NamedTensor> from_foreign(const TensorNames& names, std::span<const Safetensor> tensors,
                                      std::span<const ParameterShape> parameters, const std::string& where) {
  std::map<std::string, Tensor> found;
  for (const auto& [assignment, tensor] : make_plan(names, tensors, parameters, where)) {
    const Tensor whole = from_form(to_tensor(*tensor), assignment.form);
    const Index rows = assignment.shape[0];
    for (std::size_t i = 0; i < assignment.parameters.size(); ++i) {
      found.emplace(assignment.parameters[i], whole.narrowed(0, static_cast<Index>(i) * rows, rows));
    }
  }
  std::vector<NamedTensor> weights;
  for (const ParameterShape& parameter : parameters) weights.push_back({parameter.name, found.at(parameter.name)});
  return weights;
}

bool is_absent(const TensorNames& names, const Safetensor& tensor) {
  const std::string name = standard_name(names, tensor.name);
  const auto is_it = [&](const std::string& foreign) { return standard_name(names, foreign) == name; };
  return std::ranges::any_of(names.zeros_or_none, is_it) &&
         std::ranges::all_of(tensor.elements, [](std::byte byte) { return byte == std::byte{0}; });
}

TensorSet::TensorSet(const TensorNames& names, const std::vector<std::string>& foreign) : names_(&names) {
  for (const std::string& name : foreign) standard_.insert(standard_name(names, name));
}

bool TensorSet::has(std::string_view foreign) const {
  return standard_.contains(standard_name(*names_, foreign));
}

std::vector<std::string> parameters_in(const TensorNames& names, std::string_view foreign) {
  const std::string name = standard_name(names, foreign);
  for (const TensorRule& rule : names.rules) {
    const std::string pattern = standard_name(names, rule.foreign);
    if (!matches(name, pattern)) continue;
    std::vector<std::string> parameters;
    for (const std::string_view parameter : rule.parameters) {
      parameters.push_back(with_number(parameter, number_in(name, pattern)));
    }
    return parameters;
  }
  return {};
}

std::vector<std::string> foreign_names(const TensorNames& names, std::span<const ParameterShape> parameters) {
  std::vector<std::string> foreign;
  for (const Assignment& assignment : assign(names, parameters)) foreign.push_back(assignment.foreign);
  return foreign;
}

std::vector<NamedTensor> to_foreign(const TensorNames& names, std::span<const NamedTensor> weights) {
  std::vector<ParameterShape> parameters;
  std::map<std::string, Tensor> values;
  for (const NamedTensor& weight : weights) {
    parameters.push_back({weight.name, weight.value.shape()});
    values.emplace(weight.name, weight.value);
  }
  std::vector<NamedTensor> tensors;
  for (const Assignment& assignment : assign(names, parameters)) {
    std::vector<Tensor> parts;
    for (const std::string& name : assignment.parameters) parts.push_back(values.at(name));
    tensors.push_back({assignment.foreign, to_form(stacked(parts, assignment.stacked_shape()), assignment.form)});
  }
  return tensors;
}

}  // namespace heddle::formats
