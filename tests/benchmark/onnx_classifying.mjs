// The peer of classifying.cpp: how fast ONNX Runtime answers texts with an encoder of the shape that pytorch_classifying.py
// has, whose last block computes the first token alone; prints JSON.
//
//     NODE_PATH=... UV_THREADPOOL_SIZE=1 node onnx_classifying.mjs LAYERS HEADS WIDTH VOCABULARY CONTEXT TURNS FILE THREADS f32|int8
//
// NODE_PATH is the folder node_modules with onnxruntime-node. FILE has a text's token ids a line. Weights are random: with
// int8 those of products have a scale for each column, and rows are rounded as ONNX's DynamicQuantizeLinear does it. Texts
// are sorted by length and padded; the fastest of several sizes of batches counts.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const [layers, heads, width, vocabulary, context, turns] = process.argv.slice(2, 8).map(Number);
const [file, threads, type] = [process.argv[8], Number(process.argv[9]), process.argv[10]];
const ort = createRequire(`${process.env.NODE_PATH}/here`)('onnxruntime-node');

// Messages of protocol buffers (onnx.proto of ONNX 1.16): a field is its number and a value, of numbers, texts or bytes.
const varint = value => {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
};
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const real = (field, value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), bytes]);
};
const part = (field, value) => {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value);
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
};
const types = {f32: 1, i8: 3, i64: 7};
const attribute = (name, value) => part(5, Buffer.concat([
  part(1, name),
  ...(Array.isArray(value) ? [...value.map(each => number(8, each)), number(20, 7)]
    : Number.isInteger(value) ? [number(3, value), number(20, 2)] : [real(2, value), number(20, 1)]),
]));
const tensorType = (name, type, shape) => Buffer.concat([part(1, name), part(2, part(1, Buffer.concat([
  number(1, types[type]),
  part(2, Buffer.concat(shape.map(size => part(1, typeof size === 'string' ? part(2, size) : number(1, size))))),
])))]);

const nodes = [];
const tensors = [];
let names = 0;
const node = (kind, inputs, attributes = {}, outputs = 1) => {
  const made = Array.from({length: outputs}, () => `v${++names}`);
  nodes.push(part(1, Buffer.concat([
    ...inputs.map(name => part(1, name)), ...made.map(name => part(2, name)), part(4, kind),
    ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
  ])));
  return outputs === 1 ? made[0] : made;
};
const tensor = (type, shape, values) => {
  const name = `w${++names}`;
  tensors.push(part(5, Buffer.concat([
    ...shape.map(size => number(1, size)), number(2, types[type]), part(8, name),
    part(9, Buffer.from(values.buffer, values.byteOffset, values.byteLength)),
  ])));
  return name;
};
const floats = (shape, value) => tensor('f32', shape, Float32Array.from({length: shape.reduce((a, b) => a * b, 1)}, value));
const integers = values => tensor('i64', [values.length], BigInt64Array.from(values.map(BigInt)));
const random = () => (Math.random() - 0.5) * 0.1;

const linear = (x, inputs, outputs) => {
  const bias = floats([outputs], random);
  if (type === 'f32') return node('Add', [node('MatMul', [x, floats([inputs, outputs], random)]), bias]);
  const weight = tensor('i8', [inputs, outputs], Int8Array.from({length: inputs * outputs}, () => Math.random() * 255 - 127));
  const [rounded, scale, zero] = node('DynamicQuantizeLinear', [x], {}, 3);
  const sums = node('Cast', [node('MatMulInteger', [rounded, weight, zero])], {to: types.f32});
  return node('Add', [node('Mul', [sums, node('Mul', [scale, floats([outputs], () => 0.0004)])]), bias]);
};
const norm = x => node('LayerNormalization', [x, floats([width], () => 1), floats([width], () => 0)], {axis: -1, epsilon: 1e-5});
const gelu = x => {
  const error = node('Erf', [node('Div', [x, floats([1], () => Math.SQRT2)])]);
  return node('Mul', [node('Mul', [x, node('Add', [error, floats([1], () => 1)])]), floats([1], () => 0.5)]);
};
const splitHeads = (x, order) => node('Transpose', [node('Reshape', [x, integers([0, -1, heads, width / heads])])], {perm: order});
const first = x => node('Slice', [x, integers([0]), integers([1]), integers([1])]);

// The block's output at the positions of `asking`, part of x.
const block = (x, asking, bias) => {
  const query = splitHeads(linear(asking, width, width), [0, 2, 1, 3]);
  const key = splitHeads(linear(x, width, width), [0, 2, 3, 1]);
  const value = splitHeads(linear(x, width, width), [0, 2, 1, 3]);
  const scores = node('Div', [node('MatMul', [query, key]), floats([1], () => Math.sqrt(width / heads))]);
  const weights = node('Softmax', [node('Add', [scores, bias])], {axis: -1});
  const mixed = node('Transpose', [node('MatMul', [weights, value])], {perm: [0, 2, 1, 3]});
  const attended = norm(node('Add', [asking, linear(node('Reshape', [mixed, integers([0, -1, width])]), width, width)]));
  return norm(node('Add', [attended, linear(gelu(linear(attended, width, 4 * width)), 4 * width, width)]));
};

const embedded = node('Gather', [floats([vocabulary, width], random), 'ids']);
const length = node('Slice', [node('Shape', ['ids']), integers([1]), integers([2])]);
const positions = node('Slice', [floats([context, width], random), integers([0]), length, integers([0])]);
let x = node('Add', [embedded, positions]);
for (let layer = 1; layer <= layers; ++layer) x = block(x, layer < layers ? x : first(x), 'bias');
const answer = linear(x, width, 2);

const model = Buffer.concat([number(1, 8), part(8, number(2, 17)), part(7, Buffer.concat([
  ...nodes, part(2, 'classifier'), ...tensors,
  part(11, tensorType('ids', 'i64', ['batch', 'time'])), part(11, tensorType('bias', 'f32', ['batch', 1, 1, 'time'])),
  part(12, tensorType(answer, 'f32', ['batch', 1, 2])),
]))]);
const session = await ort.InferenceSession.create(model, {
  graphOptimizationLevel: 'all', intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential',
});

const texts = readFileSync(file, 'utf8').trimEnd().split('\n').map(
  line => [0, ...line.split(' ').filter(word => word).map(Number).slice(0, context - 2), 0]);
texts.sort((a, b) => b.length - a.length);
const batchesOf = batchTokens => {
  const batches = [];
  for (let begin = 0; begin < texts.length;) {
    const longest = texts[begin].length;
    const rows = texts.slice(begin, begin + Math.max(1, Math.floor(batchTokens / longest)));
    begin += rows.length;
    const ids = new BigInt64Array(rows.length * longest);
    const bias = new Float32Array(rows.length * longest).fill(-1e9);
    rows.forEach((row, r) => row.forEach((id, t) => {
      ids[r * longest + t] = BigInt(id);
      bias[r * longest + t] = 0;
    }));
    batches.push({ids: new ort.Tensor('int64', ids, [rows.length, longest]),
      bias: new ort.Tensor('float32', bias, [rows.length, 1, 1, longest])});
  }
  return batches;
};

let best = 0;
for (const batchTokens of [256, 1024, 4096]) {
  const batches = batchesOf(batchTokens);
  const seconds = [];
  for (let turn = 0; turn <= turns; ++turn) {
    const start = process.hrtime.bigint();
    for (const batch of batches) await session.run(batch);
    if (turn > 0) seconds.push(Number(process.hrtime.bigint() - start) * 1e-9);
  }
  best = Math.max(best, texts.length / seconds.sort((a, b) => a - b)[seconds.length >> 1]);
}
console.log(JSON.stringify({texts_per_second: best}));
