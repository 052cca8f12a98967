// Writes golden.json: the ids that Hugging Face's tokenizers gives to texts, for each kind of normaliser, pre-tokeniser
// and added token, and for the steps of Llama 3, Qwen 2, ModernBERT, SmolLM, GPT-4o and DeepSeek 3.
//
//   npm install --prefix PACKAGES tokenizers@0.23.2
//   node make.mjs PACKAGES > golden.json
import {createRequire} from 'node:module';
import {resolve} from 'node:path';

const {Tokenizer} = createRequire(resolve(process.argv[2], 'package.json'))('tokenizers');

const texts = [
  "It's 12345, don't I'LL we'Ve GO's", '  two  spaces\n\n\r\n tab\t', 'FooBar fooBAR the The THE king ing.',
  '中文 日本語テスト。', 'héllo é e\u0301a ﬁ ² ½ ｶﾞ', 'कुल हिन्दी หนึ่ง שָׁלוֹם', 'x1 x12 abab ab-ab é éa', ' a  b   c    ',
  "ſ'ſ K'k İI ΣΑΣ", '\u0001\u00ad\u200b\u200d\ufeff\ufffd x', '한국어 \u1100\u1161\u11a8 ㅏ', '😀👍🏽 🇩🇪 #tag @me /path/',
  '...(foo) [bar] {x} $100', '\u2028\u0085\u00a0\u3000x\u000b', 'ê\u0323\u0302 \u0323\u0302', '-x- -x --x  \n',
  'ⅷⓐ𝐀𝟙① ABcDe', '', '\n\n a\r\n b ', 'Zürich straße GROẞ',
];

// Merges of the most frequent pairs of bytes, across all that a step may cut.
function learn(count) {
  const spelling = [];
  for (let byte = 0, next = 256; byte < 256; ++byte) {
    const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    spelling.push(String.fromCodePoint(printable ? byte : next++));
  }
  let words = texts.flatMap(text => [text, text.normalize('NFC'), text.toLowerCase()])
                  .map(text => [...Buffer.from(text)].map(byte => spelling[byte]));
  const vocabulary = [...spelling], merges = [];
  while (merges.length < count) {
    const counts = new Map();
    for (const word of words) {
      for (let i = 0; i + 1 < word.length; ++i) {
        const pair = word[i] + ' ' + word[i + 1];
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const best = [...counts].filter(([pair]) => !vocabulary.includes(pair.replace(' ', '')))
                     .reduce((a, b) => b[1] > a[1] || (b[1] === a[1] && b[0] < a[0]) ? b : a)[0];
    const [left, right] = best.split(' ');
    merges.push(best);
    vocabulary.push(left + right);
    words = words.map(word => {
      const merged = [];
      for (let i = 0; i < word.length; ++i) {
        merged.push(word[i] === left && word[i + 1] === right ? word[i] + word[++i] : word[i]);
      }
      return merged;
    });
  }
  return {vocabulary, merges};
}

const {vocabulary, merges} = learn(260);
const bpe = {
  type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false,
  byte_fallback: false, vocab: Object.fromEntries(vocabulary.map((piece, id) => [piece, id])), merges,
};
const letters = [...'abcdefghijklmnopqrstuvwxyzABFTHEKG0123456789.,!?\'-#/()éèßαβ中文日本कु'];
const words = ['[UNK]', '[CLS]', ...letters, ...letters.map(letter => '##' + letter), 'the', '##ing', '##oo', '中文'];
const wordpiece = {
  type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100,
  vocab: Object.fromEntries(words.map((piece, id) => [piece, id])),
};

const all = (...normalizers) => ({type: 'Sequence', normalizers});
const steps = (...pretokenizers) => ({type: 'Sequence', pretokenizers});
const bytes = (prefix = false, regex = true) =>
    ({type: 'ByteLevel', add_prefix_space: prefix, trim_offsets: true, use_regex: regex});
const split = (regex, behavior = 'Isolated', invert = false) =>
    ({type: 'Split', pattern: {Regex: regex}, behavior, invert});
const replace = (pattern, content) => ({type: 'Replace', pattern, content});
const bert = settings => ({
  type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true, ...settings,
});
const strip = (left, right) => ({type: 'Strip', strip_left: left, strip_right: right});
const added = (model, ...tokens) => tokens.map(([content, settings], i) => ({
  id: Object.keys(model.vocab).length + i, content, single_word: false, lstrip: false, rstrip: false, normalized: false,
  special: false, ...settings,
}));

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const upper = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]', lower = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const rest = '| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const llama3 = `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}${rest}`;
const qwen2 = `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${rest}`;
const gpt4o = `[^\\r\\n\\p{L}\\p{N}]?${upper}*${lower}+${contractions}?|[^\\r\\n\\p{L}\\p{N}]?${upper}+${lower}*` +
    `${contractions}?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const deepseek3 = ['\\p{N}{1,3}', '[一-龥぀-ゟ゠-ヿ]+',
  '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+' +
  '| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+'];
const gpt4 = "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*" +
    '|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+';
const quick = all({type: 'NFD'}, {type: 'Lowercase'}, {type: 'StripAccents'});

const cases = [];
const add = (name, model, normalizer, pre_tokenizer, added_tokens = []) =>
    cases.push({name, model: model === bpe ? 'bpe' : 'wordpiece', normalizer, pre_tokenizer, added_tokens});

add('llama3', bpe, null, steps(split(llama3), bytes(false, false)));
cases.at(-1).ignore_merges = true;
add('qwen2', bpe, {type: 'NFC'}, steps(split(qwen2), bytes(false, false)),
    added(bpe, ['<|im_start|>', {special: true}], ['<think>', {}]));
add('modernbert', bpe, {type: 'NFC'}, bytes(),
    added(bpe, ['[MASK]', {lstrip: true, special: true}], ['|||IP|||', {normalized: true}], ['   ', {normalized: true}]));
add('smollm', bpe, null, steps({type: 'Digits', individual_digits: true}, bytes()));
add('gpt4o', bpe, null, steps(split(gpt4o), bytes(false, false)));
add('gpt4', bpe, null, steps(split(gpt4), bytes(false, false)));
add('deepseek3', bpe, null, steps(...deepseek3.map(regex => split(regex)), bytes(false, false)));
add('marks of letters', bpe, null, steps(split("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}[\\p{L}\\p{M}]*| ?\\p{N}+" +
    '| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+'), bytes(false, false)));
for (const type of ['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'StripAccents']) add(type, bpe, {type}, bytes());
add('strip', bpe, strip(true, true), bytes());
add('strip left', bpe, strip(true, false), bytes());
add('replace', bpe, all({type: 'Prepend', prepend: 'xx'}, replace({String: '.'}, 'é'), replace({Regex: ' {2,}'}, ' ')), bytes());
for (const clean_text of [true, false]) {
  for (const handle_chinese_chars of [true, false]) {
    add(`bert ${clean_text} ${handle_chinese_chars}`, bpe,
        bert({clean_text, handle_chinese_chars, strip_accents: clean_text, lowercase: handle_chinese_chars}), bytes());
  }
}
add('prefix space', bpe, null, bytes(true));
add('prefix space in a sequence', bpe, null, steps({type: 'Digits', individual_digits: false}, bytes(true)));
add('whole', bpe, null, bytes(false, false));
for (const type of ['Whitespace', 'WhitespaceSplit', 'BertPreTokenizer']) {
  add(type, bpe, null, steps({type}, bytes(false, false)));
}
for (const behavior of ['Isolated', 'Removed', 'Contiguous', 'MergedWithPrevious', 'MergedWithNext']) {
  add('punctuation ' + behavior, bpe, null, steps({type: 'Punctuation', behavior}, bytes(false, false)));
  for (const invert of [false, true]) {
    add(`split ${behavior} ${invert}`, bpe, null,
        steps(split('\\p{Lu}|[0-9]+| ', behavior, invert), bytes(false, false)));
  }
}
add('string', bpe, null,
    steps({type: 'Split', pattern: {String: '.'}, behavior: 'MergedWithPrevious', invert: false}, bytes()));
add('delimiter', bpe, null, steps({type: 'CharDelimiterSplit', delimiter: '-'}, bytes()));
add('ends of lines', bpe, null, steps(split('\\s+$|\\S+|\\s+'), bytes(false, false)));
add('lazy, possessive', bpe, null, steps(split('a+?b|\\w+?(?=\\d)|o++|.|\\s{1,2}+'), bytes(false, false)));
add('classes', bpe, null, steps(split('[a-z&&[^aeiou]]+|[\\x{30C6}[\\p{Lo}-]]+|(?i)SK|[^(\\s|[.,])]+'), bytes(false, false)));
add('single words', bpe, null, bytes(),
    added(bpe, ['abab', {single_word: true}], ['éa', {single_word: true}], ['x1', {lstrip: true, single_word: true}],
          ['-x ', {single_word: true}]));
add('normalised tokens', bpe, {type: 'Lowercase'}, bytes(),
    added(bpe, ['FooB', {normalized: true}], ['ÉA', {normalized: true, single_word: true}], ['The T', {rstrip: true}],
          [' Kin', {normalized: true, lstrip: true}], ['héL', {normalized: true, lstrip: true, rstrip: true}]));
add('tokens in turn', bpe, null, bytes(),
    added(bpe, ['  ', {normalized: true}], ['   ', {normalized: true}], [' a ', {}], ['b  ', {normalized: true}]));
add('words of bert', wordpiece, bert({}), {type: 'BertPreTokenizer'});
add('words without clean_text', wordpiece, bert({clean_text: false}), {type: 'BertPreTokenizer'});
add('words with chinese', wordpiece, bert({handle_chinese_chars: false, lowercase: false}), {type: 'BertPreTokenizer'});
add('words of the tour', wordpiece, quick, {type: 'Whitespace'});
add('words of letters', wordpiece, all({type: 'Lowercase'}, {type: 'StripAccents'}), {type: 'WhitespaceSplit'});
add('words of steps', wordpiece, all({type: 'NFKC'}, strip(true, false)),
    steps({type: 'WhitespaceSplit'}, {type: 'Punctuation', behavior: 'Isolated'}, {type: 'Digits', individual_digits: true}));
add('words as they are', wordpiece, null, {type: 'BertPreTokenizer'});
add('words with tokens', wordpiece, bert({}), {type: 'BertPreTokenizer'},
    added(wordpiece, ['FooBar', {normalized: true}], ['ing', {normalized: true, single_word: true}],
          ['テ', {normalized: true}], ['x1', {single_word: true}]));

for (const one of cases) {
  const model = one.model === 'bpe' ? bpe : wordpiece;
  const tokenizer = Tokenizer.fromString(JSON.stringify({
    version: '1.0', truncation: null, padding: null, added_tokens: one.added_tokens, normalizer: one.normalizer,
    pre_tokenizer: one.pre_tokenizer, post_processor: null, decoder: null,
    model: one.ignore_merges ? {...model, ignore_merges: true} : model,
  }));
  one.ids = [];
  for (const text of texts) {
    one.ids.push((await tokenizer.encode(text, null, {addSpecialTokens: false})).getIds());
  }
}
const lines = list => list.map(item => JSON.stringify(item)).join(',\n');
console.log(`{"bpe":${JSON.stringify(bpe)},\n"wordpiece":${JSON.stringify(wordpiece)},\n"texts":[\n${lines(texts)}],\n` +
    `"cases":[\n${lines(cases)}]}`);
