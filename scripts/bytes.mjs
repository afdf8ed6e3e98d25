// Writes a brotli copy beside every text and wasm file of a built page and prints the bytes against the budget of the
// first load. Usage: node scripts/bytes.mjs DIST
import { readdirSync, readFileSync, writeFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const BUDGET_BYTES = 350_000;
const dist = process.argv[2];
if (!dist) throw new Error('usage: node scripts/bytes.mjs DIST');

const files = readdirSync(dist, { recursive: true })
  .map(String)
  .filter((name) => /\.(html|js|css|wasm|json|svg|csv|txt|md)$/.test(name) && statSync(join(dist, name)).isFile())
  .sort();
const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`.padStart(11);
const row = (name, raw, packed) => console.log(`${name.padEnd(44)}${kb(raw)}${kb(packed)}`);

let raw = 0;
let packed = 0;
console.log(`${'first load'.padEnd(44)}${'raw'.padStart(11)}${'brotli'.padStart(11)}`);
for (const name of files) {
  const data = readFileSync(join(dist, name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length };
  const small = brotliCompressSync(data, { params });
  writeFileSync(join(dist, `${name}.br`), small);
  if (!/\.(html|js|css|wasm)$/.test(name)) continue;
  row(name, data.length, small.length);
  raw += data.length;
  packed += small.length;
}
row('sum', raw, packed);
const share = ((100 * packed) / BUDGET_BYTES).toFixed(0);
console.log(`${'budget'.padEnd(44)}${''.padStart(11)}${kb(BUDGET_BYTES)}   ${share} % used${packed > BUDGET_BYTES ? ', OVER' : ''}`);
