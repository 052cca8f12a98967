// Colours of series and groups in pictures.
#pragma once

#include <array>

#include "tools/drawing/picture.hpp"

namespace heddle::palette {

constexpr Colour of_byte(int red, int green, int blue) {
  return {red / 255.0, green / 255.0, blue / 255.0};
}

// Okabe and Ito's colours, which colour-blind people can distinguish; the last one is grey.
constexpr std::array<Colour, 7> series{of_byte(0x00, 0x72, 0xb2), of_byte(0xd5, 0x5e, 0x00), of_byte(0x00, 0x9e, 0x73),
                                       of_byte(0xcc, 0x79, 0xa7), of_byte(0xe6, 0x9f, 0x00), of_byte(0x56, 0xb4, 0xe9),
                                       of_byte(0x33, 0x33, 0x33)};
constexpr Colour grid = of_byte(0xdd, 0xdd, 0xdd), text = of_byte(0x33, 0x33, 0x33);

}  // namespace heddle::palette
