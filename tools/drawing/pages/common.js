'use strict';

// What pages share. Text from the data reaches the page only as text: through el(), never as markup.

// The data of the page.
function data() {
  return JSON.parse(document.getElementById('data').textContent);
}

// A promise of the bytes that were packed: compressed by zlib, in base64.
async function unpack(text) {
  const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// An element: el('p', {class: 'quiet', onclick: f, 'aria-label': 'x'}, ['text', node]). A property that is a function
// is a listener; null, undefined and false leave the attribute out. Children that are null are left out.
function el(tag, properties = {}, children = []) {
  return furnish(document.createElement(tag), properties, children);
}

// The same for SVG.
function svgElement(tag, properties = {}, children = []) {
  return furnish(document.createElementNS('http://www.w3.org/2000/svg', tag), properties, children);
}

function furnish(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') {
      element.addEventListener(name.replace(/^on/, ''), value);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value);
    }
  }
  for (const child of [children].flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

// Text whose direction does not touch what surrounds it: as an element, and inside a sentence that is not markup.
function bdi(text, properties = {}) {
  return el('bdi', properties, [text]);
}
function isolated(text) {
  return '\u2068' + text + '\u2069';
}

// Numbers as people read them.
function counted(count, one, many) {
  return count.toLocaleString('en') + ' ' + (count === 1 ? one : many);
}
function byteSize(bytes) {
  if (bytes < 1000) return counted(bytes, 'byte', 'bytes');
  for (const unit of ['kB', 'MB', 'GB']) {
    bytes /= 1000;
    if (bytes < 999.5 || unit === 'GB') return bytes.toFixed(bytes < 9.95 ? 1 : 0) + ' ' + unit;
  }
}
function percent(fraction, digits = 0) {
  return (100 * fraction).toFixed(digits) + ' %';
}

// Twelve colours and their names. For those who see colours otherwise (protanopia, deuteranopia, tritanopia as
// Machado et al. 2009 simulate them) two of them still differ by at least 8 hundredths in Oklab. Beyond twelve they
// repeat, with another dash pattern: a line has both, and the pair repeats only after sixty.
const palette = [
  'blue',
  'orange',
  'teal',
  'magenta',
  'olive',
  'violet',
  'red',
  'azure',
  'green',
  'brown',
  'rose',
  'grey',
].map((name, i) => ({ name, variable: `--colour-${i + 1}` }));
const dashes = [[], [9, 4], [3, 3], [12, 3, 3, 3], [1.5, 3.5]];
function stroke(i) {
  return { ...palette[i % palette.length], dash: dashes[i % dashes.length] };
}

// A custom property as [red, green, blue] of the theme that is shown: for canvases, which have no var().
const resolved = new Map();
function rgb(variable) {
  if (!resolved.has(variable)) {
    const probe = el('span', { style: `color: var(${variable})` });
    document.body.append(probe);
    resolved.set(
      variable,
      getComputedStyle(probe)
        .color.match(/[\d.]+/g)
        .slice(0, 3)
        .map(Number),
    );
    probe.remove();
  }
  return resolved.get(variable);
}
function css([red, green, blue], alpha = 1) {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}
// Whether black or white text is readable on a colour: the contrast is at least 4.5.
function textOn([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff';
}

// Calls back when the colours have changed.
const themeListeners = [];
function onTheme(callback) {
  themeListeners.push(callback);
}
function themeChanged() {
  resolved.clear();
  for (const callback of themeListeners) callback();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', themeChanged);

// What the browser keeps between visits, where it lets a page of a file keep something.
function remember(name, value) {
  try {
    localStorage.setItem('heddle.' + name, value);
  } catch {
    /* it need not */
  }
}
function remembered(name) {
  try {
    return localStorage.getItem('heddle.' + name);
  } catch {
    return null;
  }
}

function setTheme(name) {
  if (name === 'light' || name === 'dark') document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  remember('theme', name);
  themeChanged();
}
setTheme(remembered('theme') ?? 'system');

function themeSwitch() {
  const names = { system: 'Auto', light: 'Light', dark: 'Dark' };
  return choice('Theme', names, document.documentElement.dataset.theme ?? 'system', setTheme);
}

// A control to choose one of a few: OPTIONS maps values to labels. Its property `value` can be set.
let choiceCount = 0;
function choice(name, options, value, change) {
  const group = `choice-${++choiceCount}`;
  const inputs = Object.entries(options).map(([key]) =>
    el('input', {
      type: 'radio',
      name: group,
      value: key,
      checked: key === value,
      onchange: () => change(key),
    }),
  );
  const labels = Object.values(options).map((label, i) => el('label', {}, [inputs[i], el('span', {}, [label])]));
  const field = el('fieldset', { class: 'choice' }, [el('legend', {}, [name]), ...labels]);
  Object.defineProperty(field, 'value', {
    get: () => inputs.find((input) => input.checked)?.value,
    set: (key) => {
      for (const input of inputs) input.checked = input.value === key;
    },
  });
  return field;
}

function button(label, onclick, properties = {}) {
  return el('button', { type: 'button', onclick, ...properties }, [label]);
}

// A control with its name before it.
function field(name, control, after = []) {
  return el('label', { class: 'field' }, [el('span', { class: 'name' }, [name]), control, ...[after].flat()]);
}

function pageHeader(title, subtitle) {
  return el('header', { class: 'page-header' }, [
    el('div', {}, [el('h1', {}, [title]), el('p', { class: 'quiet' }, [subtitle].flat())]),
    themeSwitch(),
  ]);
}

// SENTENCES: what the page embeds and what it does not.
function pageFooter(sentences, generator) {
  return el('footer', { class: 'page-footer' }, [
    el('h2', {}, ['In this page']),
    ...sentences.map((sentence) => el('p', {}, [sentence])),
    el('p', {}, [`Written by ${generator}. The page is one file and loads nothing from the network.`]),
  ]);
}

// Reads a sentence to those who listen to the page; the last one within a moment counts.
const listener = el('div', { class: 'unseen', 'aria-live': 'polite', id: 'announcement' });
let pending = 0;
function announce(sentence) {
  if (!listener.isConnected) document.body.append(listener);
  clearTimeout(pending);
  pending = setTimeout(() => {
    listener.textContent = sentence;
  }, 120);
}

// Lines of text (or nodes) at the pointer; the first is bold. Without lines, nothing.
const tipBox = el('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
function tip(x, y, lines) {
  if (!tipBox.isConnected) document.body.append(tipBox);
  tipBox.hidden = !lines;
  if (!lines) return;
  tipBox.replaceChildren(...lines.map((line) => el('div', {}, [line].flat())));
  const box = tipBox.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
  const top = y + 16 + box.height > innerHeight ? y - 16 - box.height : y + 16;
  tipBox.style.left = `${Math.max(4, Math.min(left, innerWidth - box.width - 4))}px`;
  tipBox.style.top = `${Math.max(4, top)}px`;
}

// The state of the page in its address, so that a link leads back to what is shown: #view=grid&layer=3.
function readHash() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}
function writeHash(state) {
  const kept = Object.entries(state).filter(([, value]) => value !== null && value !== undefined && value !== '');
  history.replaceState(null, '', '#' + new URLSearchParams(kept));
}

// Keys of the page: [{keys: ['[', ']'], does: 'previous, next layer', run: (key) => …}]. They rest in text fields, with
// Ctrl, Alt or Meta, and when they are switched off, for those who speak or mistype. Returns the line that lists them.
function shortcuts(list) {
  const active = el('input', {
    type: 'checkbox',
    checked: remembered('keys') !== 'off',
    onchange: () => remember('keys', active.checked ? 'on' : 'off'),
  });
  document.addEventListener('keydown', (event) => {
    if (!active.checked || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (event.target.matches?.('input[type="search"], input[type="text"], textarea, select')) return;
    const entry = list.find(({ keys }) => keys.includes(event.key));
    if (!entry) return;
    event.preventDefault();
    entry.run(event.key);
  });
  return el('p', { class: 'keys quiet' }, [
    ...list.map(({ keys, does }) => el('span', { class: 'field' }, [...keys.map((key) => el('kbd', {}, [key])), does])),
    el('label', { class: 'field' }, [active, 'these keys are on']),
  ]);
}

// A canvas of WIDTH x HEIGHT CSS pixels, sharp on dense screens; returns its context, cleared.
function sized(canvas, width, height) {
  const density = Math.min(devicePixelRatio || 1, 3);
  const [columns, rows] = [Math.max(1, Math.round(width * density)), Math.max(1, Math.round(height * density))];
  if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Rebuilds what is inside an element; a button in it that had the focus passes it to the one in its place.
function keepingFocus(parent, rebuild) {
  const buttons = () => [...parent.querySelectorAll('button')];
  const at = buttons().indexOf(document.activeElement);
  rebuild();
  if (at >= 0) (buttons()[at] ?? buttons().at(-1))?.focus();
}

// Runs DRAW once before the next picture of the screen, however often it was asked for.
function onceAFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

// Time that the browser has left; Safari has no word for it.
function idle(callback) {
  if (window.requestIdleCallback) requestIdleCallback(callback, { timeout: 500 });
  else setTimeout(callback, 16);
}
