// The 256 colours of weights as pixels, from the ground to the ink: even, or by the square root, which shows small
// ones.
const shadeTables = new Map();
onTheme(() => shadeTables.clear());
function shades(shading) {
  if (!shadeTables.has(shading)) {
    const [from, to] = [rgb('--surface'), rgb('--shade')];
    shadeTables.set(
      shading,
      Uint32Array.from({ length: 256 }, (_, value) => {
        const amount = shading === 'root' ? Math.sqrt(value / 255) : value / 255;
        const [red, green, blue] = from.map((start, i) => Math.round(start + (to[i] - start) * amount));
        return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
      }),
    );
  }
  return shadeTables.get(shading);
}

function hatch(context, x, y, width, height = width) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = css(rgb('--warning'));
  context.lineWidth = 1.5;
  context.beginPath();
  for (let at = -height; at < width; at += 5) {
    context.moveTo(x + at, y + height);
    context.lineTo(x + at + height, y);
  }
  context.stroke();
  context.restore();
}

// What the shades mean, and the choice between even ones and the square root.
function shadingControl() {
  const swatches = [0, 0.1, 0.25, 0.5, 1].map((weight) => [
    weight,
    el('span', { class: 'shade', 'aria-hidden': 'true' }),
  ]);
  const switcher = choice('Shading', shadingNames, state.shading, (shading) => update({ shading }));
  const frame = el('div', { class: 'row once' }, [
    switcher,
    el(
      'span',
      { class: 'legend quiet numbers' },
      swatches.flatMap(([weight, swatch]) => [swatch, String(weight)]),
    ),
  ]);
  function show() {
    switcher.value = state.shading;
    for (const [weight, swatch] of swatches) {
      const pixel = shades(state.shading)[Math.round(255 * weight)];
      swatch.style.background = css([pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]);
    }
  }
  return { frame, show };
}
