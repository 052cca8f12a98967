// Makes the goldens beside this file: cut tokenizers, and the ids that Hugging Face's own library has for our texts.
//
//   npm install --prefix PACKAGES tokenizers@0.23.2
//   node make.mjs TOKENIZERS PACKAGES        TOKENIZERS: a folder of NAME/tokenizer.json[.gz], the published files
//
// A cut tokenizer keeps each piece that is part of a text (with its merges), which are all pieces that can come up in
// encoding these texts, and numbers them anew in the same order. That nothing else is needed is checked here: the
// library must give the same pieces with the cut file as with the published one.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const [tokenizers, packages] = process.argv.slice(2);
const { Tokenizer } = createRequire(resolve(packages, "package.json"))("tokenizers");
const here = dirname(fileURLToPath(import.meta.url));
const texts = JSON.parse(readFileSync(join(here, "texts.json")));

const read = (path) => (existsSync(path) ? readFileSync(path) : gunzipSync(readFileSync(path + ".gz")));

// GPT-2's spelling of bytes: those that print stand for themselves, the others for characters from 256 on.
const printable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte !== 173);
let next = 256;
const alphabet = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
const spelled = (text) => Array.from(Buffer.from(text), (byte) => alphabet[byte]).join("");

// Everything that a text may look like when pieces are sought in it: with each blank and with one for several.
function looks(text, kind) {
  if (kind === "bytes") return [spelled(text)];
  const blanks = (some) => " " + some + " ".concat(some).replace(/\s+/gu, " ");
  const accents = (some) => some.normalize("NFD").replace(/\p{Mn}/gu, "");
  const forms = [text, text.normalize("NFKC"), text.toLowerCase(), accents(text), accents(text.toLowerCase())];
  return forms.map((form) => blanks(form).replaceAll(" ", "▁"));
}

function kind_of(file) {
  const parts = JSON.stringify(file.pre_tokenizer ?? {});
  return parts.includes("ByteLevel") ? "bytes" : file.model.vocab instanceof Array ? "unigram" : "text";
}

const is_byte = /^<0x[0-9A-F]{2}>$/;

// The pieces [spelling, published id, score] to keep, in the order of their ids.
function kept_pieces(file, cases) {
  const kind = kind_of(file);
  const all = cases.flatMap((text) => looks(text, kind)).join("\n");
  const special = new Set([...file.added_tokens.map((token) => token.content), file.model.unk_token]);
  const listed = kind === "unigram" ? file.model.vocab.map(([piece, score], id) => [piece, id, score])
                                    : Object.entries(file.model.vocab).sort((a, b) => a[1] - b[1]);
  const least = Math.min(...listed.map((entry) => entry[2] ?? 0));  // what an unknown character costs goes by it
  const one = listed.find((entry) => entry[2] === least);
  return listed.filter((entry) => {
    const [piece] = entry;
    if (/^<extra_id_\d+>$/.test(piece)) return texts["t5-small"].join().includes(piece);
    return special.has(piece) || entry === one || is_byte.test(piece) ||
           (kind === "bytes" && [...piece].length === 1) || all.includes(piece.replace(/^##/, ""));
  });
}

// The published file with some of its pieces; the published ids go to `published`, by the new ones.
function cut(file, cases, published) {
  const pieces = kept_pieces(file, cases);
  const added = file.added_tokens.filter((token) => !token.content.startsWith("<extra_id_") ||
                                                    pieces.some(([piece]) => piece === token.content));
  const ids = new Set([...pieces.map((piece) => piece[1]), ...added.map((token) => token.id)]);
  published.push(...[...ids].sort((a, b) => a - b));
  const renumbered = new Map(published.map((id, at) => [id, at]));
  const copy = structuredClone(file);
  copy.added_tokens = added.map((token) => ({ ...token, id: renumbered.get(token.id) }));
  for (const token of Object.values(copy.post_processor?.special_tokens ?? {})) {
    token.ids = token.ids.map((id) => renumbered.get(id));
  }
  for (const end of ["sep", "cls"]) {
    if (copy.post_processor?.[end]) copy.post_processor[end][1] = renumbered.get(copy.post_processor[end][1]);
  }
  if (file.model.merges) {
    const known = new Set(pieces.map(([piece]) => piece));
    copy.model.merges = file.model.merges.filter((merge) => known.has(merge.replace(" ", "")));
  }
  if (file.model.vocab instanceof Array) {
    copy.model.vocab = pieces.map(([piece, , score]) => [piece, score]);
    copy.model.unk_id = renumbered.get(file.model.unk_id);
  } else {
    copy.model.vocab = Object.fromEntries(pieces.map(([piece, id]) => [piece, renumbered.get(id)]));
  }
  return copy;
}

// SentencePiece's character map: the size of a double array (Darts-clone), the array, and the normalized forms, each
// ended by NUL. A unit: the byte that leads to it in bits 0-7 and 31, whether a key ends there in bit 8, where its
// children are in bits 10-30 (exclusive or of place and byte); a value has bit 31 set.
const is_end = (unit) => (unit >>> 8) & 1;
const label = (unit) => (unit & 0x800000ff) >>> 0;
const children = (place, unit) => place ^ ((unit >>> 10) << ((unit & 512) >>> 6));

// The keys that begin anywhere in the bytes, with what they become.
function keys_in(map, bytes, found) {
  const size = map.readUInt32LE(0), forms = 4 + size, unit = (place) => map.readUInt32LE(4 + 4 * place);
  for (let begin = 0; begin < bytes.length; ++begin) {
    let at = children(0, unit(0));
    for (let end = begin; end < bytes.length; ++end) {
      at ^= bytes[end];
      if (4 * at >= size || label(unit(at)) !== bytes[end]) break;
      const ends = is_end(unit(at));
      at = children(at, unit(at));
      if (!ends) continue;
      const form = forms + (unit(at) & 0x7fffffff);
      found.set(bytes.toString("latin1", begin, end + 1), map.toString("latin1", form, map.indexOf(0, form)));
    }
  }
}

// A character map with these keys.
function charsmap(keys) {
  const units = [], taken = new Set([0]), bases = new Set();  // no two places share a base: bytes would lead astray
  const forms = [], offsets = new Map();
  for (const [key, form] of keys) {
    offsets.set(key, forms.length);
    forms.push(...Buffer.from(form + "\0", "latin1"));
  }
  const place_children = (place, prefix) => {
    const below = [...keys.keys()].filter((key) => key.startsWith(prefix));
    const bytes = new Set(below.map((key) => (key === prefix ? 0 : key.charCodeAt(prefix.length))));
    let base = 1;
    while (bases.has(base) || [...bytes].some((byte) => taken.has(base ^ byte))) ++base;
    bases.add(base);
    bytes.forEach((byte) => taken.add(base ^ byte));
    units[place] = ((units[place] ?? 0) | ((place ^ base) << 10) | (bytes.has(0) ? 256 : 0)) >>> 0;
    if (bytes.has(0)) units[base] = (offsets.get(prefix) | 0x80000000) >>> 0;
    bytes.delete(0);
    for (const byte of bytes) units[base ^ byte] = byte;
    for (const byte of bytes) place_children(base ^ byte, prefix + String.fromCharCode(byte));
  };
  place_children(0, "");
  const length = (Math.max(...taken) | 255) + 1;  // whole blocks of 256
  const map = Buffer.alloc(4 + 4 * length);
  map.writeUInt32LE(4 * length);
  for (let i = 0; i < length; ++i) map.writeUInt32LE(units[i] ?? 0, 4 + 4 * i);
  return Buffer.concat([map, Buffer.from(forms)]);
}

function cut_charsmap(copy, cases) {
  if (copy.normalizer?.type !== "Precompiled") return;
  const keys = new Map();
  const map = Buffer.from(copy.normalizer.precompiled_charsmap, "base64");
  for (const text of cases) keys_in(map, Buffer.from(text), keys);
  copy.normalizer.precompiled_charsmap = charsmap(keys).toString("base64");
}

const as_file = (folder, name, content) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), content);
};

// The formats that came before tokenizer.json.
function write_older(folder, name, copy) {
  const pieces = Object.entries(copy.model.vocab).sort((a, b) => a[1] - b[1]);
  if (name === "gpt2") {
    as_file(folder, "encoder.json", JSON.stringify({ ...copy.model.vocab }));
    as_file(folder, "vocab.bpe", ["#version: 0.2", ...copy.model.merges, ""].join("\n"));
  }
  if (name.startsWith("bert-")) as_file(folder, "vocab.txt", pieces.map(([piece]) => piece + "\n").join(""));
}

for (const name of ["gpt2", "bert-base-uncased", "bert-base-cased", "roberta-base", "phi-2", "phi-3-mini", "falcon",
                    "t5-small"]) {
  const source = read(join(tokenizers, name, "tokenizer.json")).toString();
  const cases = [...texts.any, ...texts.pair, ...(texts[name] ?? [])];
  const published = [];
  const copy = cut(JSON.parse(source), cases, published);
  cut_charsmap(copy, cases);
  const folder = join(here, name), scratch = mkdtempSync(join(tmpdir(), "goldens-"));
  as_file(folder, "tokenizer.json", JSON.stringify(copy) + "\n");
  write_older(folder, name, copy);
  const all = JSON.parse(source);
  if (all.decoder.cleanup) all.decoder.cleanup = false;  // which would take blanks out of decoded texts
  as_file(scratch, "whole.json", JSON.stringify(all));
  const whole = Tokenizer.fromFile(join(scratch, "whole.json"));
  const less = Tokenizer.fromFile(join(folder, "tokenizer.json"));
  const golden = [];
  for (const text of cases) {
    const encode = async (tokenizer, special) =>
      (await tokenizer.encode(text, null, { addSpecialTokens: special })).getIds();
    const ids = await encode(whole, false), framed = await encode(whole, true);
    const again = (await encode(less, false)).map((id) => published[id]);
    if (String(ids) !== String(again)) throw Error(`${name}: ${JSON.stringify(text)}: ${ids} | ${again}`);
    golden.push({ text, ids, framed, decoded: await whole.decode(ids, false) });
  }
  const lines = golden.map((one) => " " + JSON.stringify(one)).join(",\n");
  const pair = { texts: texts.pair, ids: (await whole.encode(...texts.pair)).getIds() };
  as_file(folder, "golden.json", `{"published": ${JSON.stringify(published)},
"pair": ${JSON.stringify(pair)},
"cases": [
${lines}
]}
`);
  console.log(`${name}: ${published.length} pieces, ${golden.length} texts`);
}
