// Peers of tokenize: encoders in JavaScript with GPT-2's vocabulary. Prints one JSON object.
//
//   node javascript_tokenizers.mjs tiktoken|gpt-tokenizer TEXT FOLDER      FOLDER: where npm installed the package
//
// Text goes in by lines and in blocks of 4 KB; the faster way counts.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [name, path, folder] = process.argv.slice(2);
const load = createRequire(resolve(folder, "package.json"));
const bytes = readFileSync(path);

const encoders = {
  "tiktoken": () => {
    const encoder = load("tiktoken").get_encoding("gpt2");
    return (text) => encoder.encode_ordinary(text).length;
  },
  "gpt-tokenizer": () => {
    const { encode } = load("gpt-tokenizer/encoding/r50k_base");
    return (text) => encode(text).length;
  },
};

function lines() {
  return bytes.toString("utf8").split(/(?<=\n)/);
}

function blocks() {
  const parts = [];
  for (let begin = 0; begin < bytes.length;) {
    const end = Math.min(bytes.length, begin + 4096);
    const cut = end < bytes.length ? bytes.lastIndexOf(0x20, end - 1) : end;
    parts.push(bytes.toString("utf8", begin, cut > begin ? cut : end));
    begin = cut > begin ? cut : end;
  }
  return parts;
}

function rate(encode, parts) {
  const start = performance.now();
  for (const part of parts) encode(part);
  return bytes.length / 1e3 / (performance.now() - start);
}

const encode = encoders[name]();
for (const part of lines().slice(0, 2000)) encode(part);
console.log(JSON.stringify({ mb_per_second: Math.max(rate(encode, lines()), rate(encode, blocks())) }));
