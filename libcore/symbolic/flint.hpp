// FLINT's view of this room's types. Only .cpp files of this room include it.
#pragma once

#include <flint/fmpq.h>

#include "libcore/symbolic/rational.hpp"

namespace heddle::symbolic {

static_assert(sizeof(fmpq) == sizeof(Rational::Words) && sizeof(fmpz) == sizeof(long));

inline fmpq* flint(Rational& value) {
  return reinterpret_cast<fmpq*>(&value.words());
}
inline const fmpq* flint(const Rational& value) {
  return reinterpret_cast<const fmpq*>(&value.words());
}

}  // namespace heddle::symbolic
