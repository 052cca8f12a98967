// llama.cpp on a GGUF file that convert wrote: prints JSON of tokens per second, of a prompt and of one line that is
// continued.
//
//     NODE_PATH=... UV_THREADPOOL_SIZE=1 node llama.mjs MODEL.gguf THREADS PROMPT TOKENS
//
// NODE_PATH is the folder node_modules with node-llama-cpp. With Node's usual pool of threads its rate falls to a quarter.
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [path, threads, promptLength, count] = process.argv.slice(2);
const entry = createRequire(`${process.env.NODE_PATH}/here`).resolve('node-llama-cpp');
const {getLlama} = await import(pathToFileURL(entry));

const llama = await getLlama({gpu: false, build: 'never', maxThreads: Number(threads), logLevel: 'error'});
const model = await llama.loadModel({modelPath: path, gpuLayers: 0});
const context = await model.createContext({
  contextSize: Number(promptLength) + Number(count) + 8,
  batchSize: Number(promptLength),
  sequences: 1,
  threads: Number(threads),
  flashAttention: false,
});
const sequence = context.getSequence();
const prompt = Array.from({length: Number(promptLength)}, (_, i) => 300 + ((i * 7919) % 20000) % (model.fileInfo.metadata.tokenizer.ggml.tokens.length - 301));

const seconds = async work => {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) * 1e-9;
};
const median = numbers => numbers.sort((a, b) => a - b)[numbers.length >> 1];

const promptTimes = [];
const tokenTimes = [];
for (let turn = 0; turn < 4; ++turn) {
  await sequence.clearHistory();
  const promptTime = await seconds(() => sequence.evaluateWithoutGeneratingNewTokens(prompt));
  let left = Number(count);
  const tokenTime = await seconds(async () => {
    for await (const token of sequence.evaluate([prompt[0]], {temperature: 0, yieldEogToken: true})) {
      if (--left === 0) break;
    }
  });
  if (turn === 0) continue;
  promptTimes.push(promptTime);
  tokenTimes.push(tokenTime);
}
console.log(JSON.stringify({
  prompt_tokens_per_second: Number(promptLength) / median(promptTimes),
  tokens_per_second: Number(count) / median(tokenTimes),
}));
process.exit(0);
