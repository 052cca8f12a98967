'use strict';

// The data of the page.
function data() {
  return JSON.parse(document.getElementById('data').textContent);
}

// A promise of the bytes that were packed: compressed by zlib, in base64.
async function unpack(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
