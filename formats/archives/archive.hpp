// Boost.Serialization for structs that describe themselves by visit(): one adaptor gives all of them serialize(), and
// the archives of heddle (over HDF5 groups, JSON and text) are Boost archives whose parts all have names.
//
// The archives take what boost::serialization::make_nvp wraps: the kinds of fields that base/visit.hpp lists, structs
// with visit(), and classes with a serialize() of their own that are object_serializable and track_never. They have no
// pointers, no object tracking and no class names, so that no file can choose what gets constructed.
#pragma once

#include <boost/archive/detail/interface_iarchive.hpp>
#include <boost/archive/detail/interface_oarchive.hpp>
#include <boost/archive/detail/iserializer.hpp>
#include <boost/archive/detail/oserializer.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/nvp.hpp>
#include <boost/serialization/tracking.hpp>
#include <concepts>
#include <string>
#include <vector>

#include "libcore/base/fields_in_messages.hpp"
#include "libcore/base/visit.hpp"

namespace boost::serialization {

// A struct with visit() is stored as its fields and nothing else.
template <heddle::Visitable T>
struct implementation_level_impl<const T> {
  using tag = mpl::integral_c_tag;
  using type = mpl::int_<object_serializable>;
  static constexpr int value = type::value;
};
template <heddle::Visitable T>
struct tracking_level<T> {
  using tag = mpl::integral_c_tag;
  using type = mpl::int_<track_never>;
  static constexpr int value = type::value;
};

template <class Archive, heddle::Visitable T>
void serialize(Archive& archive, T& object, const unsigned int) {
  const auto pass_on = [&archive](const heddle::Field& field, auto& value) {
    if constexpr (requires { archive.describe(field); }) archive.describe(field);
    archive& make_nvp(field.name.c_str(), value);
  };
  heddle::visit_fields(object, pass_on);
}

}  // namespace boost::serialization

namespace heddle::formats {

using boost::serialization::make_nvp;

// Values that an archive stores as a field rather than as a section.
template <class T>
concept PlainField = std::same_as<T, bool> || std::same_as<T, Index> || std::same_as<T, double> ||
    std::same_as<T, std::string> || std::same_as<T, std::vector<Index>> || std::same_as<T, std::vector<double>> ||
    std::same_as<T, std::vector<std::string>>;

// Derived has put(name, value) for plain fields, and open(name) and close() around the fields of a section; it may have
// describe(field), which is called before each field.
template <class Derived>
class OutputArchive : public boost::archive::detail::interface_oarchive<Derived> {
 public:
  template <class T>
  void save_override(const boost::serialization::nvp<T>& field) {
    Derived& archive = *this->This();
    if constexpr (PlainField<T>) {
      archive.put(field.name(), field.const_value());
    } else if constexpr (NamedEnumeration<T>) {
      archive.put(field.name(), heddle::to_text(field.const_value()));
    } else if constexpr (Textual<T>) {
      archive.put(field.name(), field.const_value().text());
    } else {
      archive.open(field.name());
      boost::archive::save(archive, field.const_value());
      archive.close();
    }
  }

  // The object whose fields stand in the archive itself.
  template <class T>
  void save_override(const T& object) {
    boost::archive::save(*this->This(), object);
  }
};

// Derived has get(name, value), which does not change the value if the archive has none; open(name), which returns
// whether there is such a section; close(); and where(), which names what is being read, for messages.
template <class Derived>
class InputArchive : public boost::archive::detail::interface_iarchive<Derived> {
 public:
  template <class T>
  void load_override(const boost::serialization::nvp<T>& field) {
    Derived& archive = *this->This();
    if constexpr (PlainField<T>) {
      archive.get(field.name(), field.value());
    } else if constexpr (NamedEnumeration<T>) {
      std::string text = heddle::to_text(field.value());
      archive.get(field.name(), text);
      check_loaded(field.name(), [&] { field.value() = heddle::from_text<T>(text); });
    } else if constexpr (Textual<T>) {
      std::string text = field.value().text();
      archive.get(field.name(), text);
      check_loaded(field.name(), [&] { field.value() = T::from_text(text); });
    } else if (archive.open(field.name())) {
      load_override(field.value());
      archive.close();
    }
  }

  template <class T>
  void load_override(T& object) {
    check_loaded("", [&] {
      boost::archive::load(*this->This(), object);
      if constexpr (Visitable<T>) check_ranges(object);
    });
  }

 private:
  // A usage error on a command line is a data error in a file.
  template <class Check>
  void check_loaded(const std::string& name, const Check& run) {
    try {
      run();
    } catch (const UsageError& error) {
      throw DataError(concatenate(this->This()->where(), ": ", name, name.empty() ? "" : ": ",
                                  plain_field_names(error.what()), ". The file is damaged or not heddle's"));
    }
  }
};

}  // namespace heddle::formats
