// Writes a brotli copy beside every text and wasm file of a built page and prints the bytes against the budget of the
// first load. Usage: node scripts/bytes.mjs DIST
import { readdirSync, readFileSync, writeFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { BUDGET_KB, STAGES, isLoaded, stageOf } from './first-load.mjs';

const dist = process.argv[2];
if (!dist) throw new Error('usage: node scripts/bytes.mjs DIST');

const files = readdirSync(dist, { recursive: true })
  .map(String)
  .filter((name) => /\.(html|js|css|wasm|json|svg|csv|txt|md)$/.test(name) && statSync(join(dist, name)).isFile())
  .sort();
const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`.padStart(11);
const row = (name, raw, packed) => console.log(`${name.padEnd(44)}${kb(raw)}${kb(packed)}`);

let first = 0;
for (const title of STAGES) {
  const chosen = files.filter((name) => stageOf(name) === title);
  if (chosen.length === 0) continue;
  console.log(`${title.padEnd(44)}${'raw'.padStart(11)}${'brotli'.padStart(11)}`);
  let raw = 0;
  let packed = 0;
  for (const name of chosen) {
    const data = readFileSync(join(dist, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length };
    const small = brotliCompressSync(data, { params });
    writeFileSync(join(dist, `${name}.br`), small);
    if (!isLoaded(name)) continue;
    row(name, data.length, small.length);
    raw += data.length;
    packed += small.length;
  }
  row('sum', raw, packed);
  first ||= packed;
}
const share = (first / (10 * BUDGET_KB)).toFixed(0);
console.log(`${'budget of the first load'.padEnd(44)}${''.padStart(11)}${kb(BUDGET_KB * 1000)}   ${share} % used${first > BUDGET_KB * 1000 ? ', OVER' : ''}`);
