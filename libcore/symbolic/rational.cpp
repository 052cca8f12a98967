#include "libcore/symbolic/rational.hpp"

#include <flint/fmpz.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/flint.hpp"

namespace heddle::symbolic {

Rational::Rational(Index value) : words_{0, 1} {
  fmpq_set_si(flint(*this), value, 1);
}
Rational::Rational(const Rational& other) : words_{0, 1} {
  fmpq_set(flint(*this), flint(other));
}
Rational::Rational(Rational&& other) noexcept : words_{0, 1} {
  std::swap(words_, other.words_);
}
Rational::~Rational() {
  fmpq_clear(flint(*this));
}
Rational& Rational::operator=(const Rational& other) {
  fmpq_set(flint(*this), flint(other));
  return *this;
}
Rational& Rational::operator=(Rational&& other) noexcept {
  std::swap(words_, other.words_);
  return *this;
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Removes and returns the digits at the beginning.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

Rational whole(std::string_view digits) {
  check<DataError>(digits.size() <= Rational::most_digits, "a number has ", digits.size(), " digits; at most ",
                   Rational::most_digits, " are read");
  Rational value;
  fmpz_set_str(fmpq_numref(flint(value)), std::string(digits).c_str(), 10);
  return value;
}

Rational power_of_ten(Index exponent) {
  Rational value(10);
  fmpq_pow_si(flint(value), flint(value), exponent);
  return value;
}

// Removes "e-3" and returns -3; 0 where there is no exponent.
Index take_exponent(std::string_view& text) {
  if (!text.starts_with('e') && !text.starts_with('E')) return 0;
  text.remove_prefix(1);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  check<DataError>(!digits.empty() && digits.size() <= 4, "an exponent must have 1 to 4 digits");
  Index exponent = 0;
  for (const char digit : digits) exponent = 10 * exponent + (digit - '0');
  check<DataError>(exponent <= static_cast<Index>(Rational::most_digits), "an exponent of ten must be at most ",
                   Rational::most_digits);
  return is_negative ? -exponent : exponent;
}

Rational take_decimal(std::string_view& text) {
  std::string digits(take_digits(text));
  Index fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view after = take_digits(text);
    fraction = static_cast<Index>(after.size());
    digits += after;
  }
  check<DataError>(!digits.empty(), "a number without digits");
  return whole(digits) * power_of_ten(take_exponent(text) - fraction);
}

}  // namespace

Rational Rational::parse(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  Rational value = take_decimal(text);
  if (text.starts_with('/')) {
    text.remove_prefix(1);
    const Rational divisor = whole(take_digits(text));
    check<DataError>(!divisor.is_zero(), "a fraction has the denominator 0");
    value /= divisor;
  }
  check<DataError>(text.empty(), "not a number");
  return is_negative ? -value : value;
}

Rational Rational::of(double value) {
  check<DataError>(std::isfinite(value), "a number is too large for floating point");
  Rational result;
  mpq_t exact;
  mpq_init(exact);
  mpq_set_d(exact, value);
  fmpq_set_mpq(flint(result), exact);
  mpq_clear(exact);
  return result;
}

Rational Rational::power_of_two(Index exponent) {
  Rational value(2);
  fmpq_pow_si(flint(value), flint(value), exponent);
  return value;
}

Index Rational::magnitude() const {
  if (is_zero()) return 0;
  return static_cast<Index>(fmpz_sizeinbase(fmpq_numref(flint(*this)), 2)) -
         static_cast<Index>(fmpz_sizeinbase(fmpq_denref(flint(*this)), 2));
}

Rational Rational::rounded(double value, int bits) {
  return of(std::ldexp(std::nearbyint(std::ldexp(value, bits)), -bits));
}

Rational Rational::simplest(double value, double tolerance) {
  if (!(std::abs(value) < 1e15)) return of(value);
  double rest = value;
  Rational before(1), here(0), before_denominator(0), denominator(1);  // convergents h/k
  std::swap(before, here);
  std::swap(before_denominator, denominator);
  for (int i = 0; i < 40; ++i) {
    const double part = std::floor(rest);
    if (std::abs(part) > 1e15) break;
    const Rational next = Rational::of(part) * here + before;
    const Rational next_denominator = Rational::of(part) * denominator + before_denominator;
    before = here;
    before_denominator = denominator;
    here = next;
    denominator = next_denominator;
    if (std::abs((here / denominator).value() - value) <= tolerance || rest == part) break;
    rest = 1 / (rest - part);
  }
  return here / denominator;
}

Rational& Rational::operator+=(const Rational& other) {
  fmpq_add(flint(*this), flint(*this), flint(other));
  return *this;
}
Rational& Rational::operator-=(const Rational& other) {
  fmpq_sub(flint(*this), flint(*this), flint(other));
  return *this;
}
Rational& Rational::operator*=(const Rational& other) {
  fmpq_mul(flint(*this), flint(*this), flint(other));
  return *this;
}
Rational& Rational::operator/=(const Rational& other) {
  fmpq_div(flint(*this), flint(*this), flint(other));
  return *this;
}

int Rational::compare(const Rational& other) const {
  return fmpq_cmp(flint(*this), flint(other));
}
int Rational::sign() const {
  return fmpq_sgn(flint(*this));
}
bool Rational::is_integer() const {
  return fmpz_is_one(fmpq_denref(flint(*this))) != 0;
}
Index Rational::integer_or(Index otherwise, Index most) const {
  const fmpz* numerator = fmpq_numref(flint(*this));
  if (!is_integer() || fmpz_cmp_si(numerator, most) > 0 || fmpz_cmp_si(numerator, -most) < 0) return otherwise;
  return fmpz_get_si(numerator);
}
Rational Rational::numerator() const {
  Rational result;
  fmpz_set(fmpq_numref(flint(result)), fmpq_numref(flint(*this)));
  return result;
}
Rational Rational::denominator() const {
  Rational result;
  fmpz_set(fmpq_numref(flint(result)), fmpq_denref(flint(*this)));
  return result;
}

double Rational::value() const {
  mpfr_t rounded;
  mpfr_init2(rounded, 53);
  fmpq_get_mpfr(rounded, flint(*this), MPFR_RNDN);
  const double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_clear(rounded);
  return result;
}

std::string Rational::text() const {
  char* characters = fmpq_get_str(nullptr, 10, flint(*this));
  std::string result(characters);
  flint_free(characters);
  return result;
}

namespace {

bool is_symmetric(const RationalMatrix& matrix) {
  for (Index i = 0; i < matrix.order; ++i)
    for (Index j = 0; j < i; ++j)
      if (!(matrix.at(i, j) == matrix.at(j, i))) return false;
  return true;
}

// A symmetric matrix times its common denominator: the lower triangle, by rows.
class IntegerMatrix {
 public:
  explicit IntegerMatrix(const RationalMatrix& matrix)
      : order_(matrix.order), entries_(static_cast<std::size_t>(order_ * order_)) {
    fmpz_t common, factor;
    fmpz_init_set_ui(common, 1);
    fmpz_init(factor);
    for (const Rational& value : matrix.values) fmpz_lcm(common, common, fmpq_denref(flint(value)));
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      fmpz_divexact(factor, common, fmpq_denref(flint(matrix.values[i])));
      fmpz_init(&entries_[i]);
      fmpz_mul(&entries_[i], factor, fmpq_numref(flint(matrix.values[i])));
    }
    fmpz_clear(common);
    fmpz_clear(factor);
  }
  ~IntegerMatrix() {
    for (fmpz& entry : entries_) fmpz_clear(&entry);
  }
  IntegerMatrix(const IntegerMatrix&) = delete;
  IntegerMatrix& operator=(const IntegerMatrix&) = delete;

  fmpz* at(Index i, Index j) { return &entries_[static_cast<std::size_t>(i * order_ + j)]; }
  int sign(Index i, Index j) { return fmpz_sgn(at(i, j)); }

  // Subtracts multiples of row and column k from those after it, without fractions (Bareiss 1968): entries are then
  // minors, which the last pivot, of row `last` or 1 where it is -1, divides.
  void eliminate(Index k, Index last) {
    fmpz_t product;
    fmpz_init(product);
    for (Index i = k + 1; i < order_; ++i) {
      for (Index j = k + 1; j <= i; ++j) {
        fmpz_mul(product, at(i, j), at(k, k));
        fmpz_submul(product, at(i, k), at(j, k));
        if (last >= 0) fmpz_divexact(product, product, at(last, last));
        fmpz_swap(at(i, j), product);
      }
    }
    fmpz_clear(product);
  }

 private:
  Index order_;
  std::vector<fmpz> entries_;
};

}  // namespace

Definiteness definiteness(const RationalMatrix& matrix) {
  if (!is_symmetric(matrix)) return Definiteness::neither;
  IntegerMatrix rest(matrix);
  bool is_singular = false;
  Index last = -1;
  for (Index k = 0; k < matrix.order; ++k) {
    const int sign = rest.sign(k, k);
    if (sign < 0) return Definiteness::neither;
    if (sign > 0) {
      rest.eliminate(k, last);
      last = k;
      continue;
    }
    is_singular = true;
    for (Index i = k + 1; i < matrix.order; ++i)
      if (rest.sign(i, k) != 0) return Definiteness::neither;
  }
  return is_singular ? Definiteness::semidefinite : Definiteness::positive;
}

}  // namespace heddle::symbolic
