// Exact rational numbers of any size, by FLINT, whose headers this one hides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::symbolic {

class Rational {
 public:
  Rational(Index value = 0);
  Rational(const Rational& other);
  Rational(Rational&& other) noexcept;
  ~Rational();
  Rational& operator=(const Rational& other);
  Rational& operator=(Rational&& other) noexcept;

  // "-7", "3/2", "1.25", "2e-3": at most most_digits digits, and an exponent of at most that size. Throws DataError for
  // other texts and for a denominator of 0.
  static Rational parse(std::string_view text);
  // Exactly the value. Throws DataError where it is not finite, as the next two do.
  static Rational of(double value);
  static Rational power_of_two(Index exponent);
  // The value rounded to a multiple of 2^-bits.
  static Rational rounded(double value, int bits);
  // The fraction with the smallest denominator within `tolerance` of the value, by its continued fraction.
  static Rational simplest(double value, double tolerance);

  Rational& operator+=(const Rational& other);
  Rational& operator-=(const Rational& other);
  Rational& operator*=(const Rational& other);
  // Precondition: the other is not 0.
  Rational& operator/=(const Rational& other);
  friend Rational operator+(Rational a, const Rational& b) { return std::move(a += b); }
  friend Rational operator-(Rational a, const Rational& b) { return std::move(a -= b); }
  friend Rational operator*(Rational a, const Rational& b) { return std::move(a *= b); }
  friend Rational operator/(Rational a, const Rational& b) { return std::move(a /= b); }
  Rational operator-() const { return Rational() - *this; }
  friend bool operator==(const Rational& a, const Rational& b) { return a.compare(b) == 0; }
  friend bool operator<(const Rational& a, const Rational& b) { return a.compare(b) < 0; }

  // -1, 0 or 1.
  int sign() const;
  bool is_zero() const { return sign() == 0; }
  bool is_integer() const;
  // The number as an Index if it is an integer of at most that absolute value, else `otherwise`.
  Index integer_or(Index otherwise, Index most = 1'000'000) const;
  // About the binary logarithm of the absolute value, within 1; 0 of 0.
  Index magnitude() const;
  Rational numerator() const;
  Rational denominator() const;
  // The nearest double, perhaps infinite.
  double value() const;
  // "-7" or "3/2".
  std::string text() const;

  static constexpr std::size_t most_digits = 1000;

  // FLINT's two words, an fmpq.
  struct Words {
    long numerator, denominator;
  };
  const Words& words() const { return words_; }
  Words& words() { return words_; }

 private:
  int compare(const Rational& other) const;

  Words words_;
};

// A square matrix by rows.
struct RationalMatrix {
  explicit RationalMatrix(Index rows = 0) : order(rows), values(static_cast<std::size_t>(rows * rows)) {}
  Rational& at(Index i, Index j) { return values[static_cast<std::size_t>(i * order + j)]; }
  const Rational& at(Index i, Index j) const { return values[static_cast<std::size_t>(i * order + j)]; }

  Index order;
  std::vector<Rational> values;
};

enum class Definiteness { positive, semidefinite, neither };

// Whether a symmetric matrix is positive definite, only semidefinite, or neither, by an exact LDL' factorisation
// without fractions: a pivot of 0 must have a row of zeros. A matrix that is not symmetric is neither.
Definiteness definiteness(const RationalMatrix& matrix);

}  // namespace heddle::symbolic
