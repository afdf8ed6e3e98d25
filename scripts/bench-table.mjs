// Prints what was measured beside the budgets: criterion's estimates in target/criterion, the browser's values in
// target/bench, the bytes of dist/.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpus } from 'node:os';
import { BUDGET_KB, STAGES, isLoaded, stageOf } from './first-load.mjs';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Criterion's results by full id: mean in ns and, where the benchmark counts elements, elements an iteration. */
function natives(folder) {
  const found = new Map();
  const walk = (path) => {
    const parts = [path, 'new'];
    if (existsSync(join(...parts, 'estimates.json'))) {
      const { full_id: id, throughput } = read(join(...parts, 'benchmark.json'));
      const ns = read(join(...parts, 'estimates.json')).mean.point_estimate;
      found.set(id, { ns, elements: throughput?.Elements });
      return;
    }
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) walk(join(path, entry.name));
  };
  if (existsSync(folder)) walk(folder);
  return found;
}

const native = natives('target/criterion');
const inBrowser = (name) => {
  const path = join('target/bench', name);
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined;
};
const ms = (id) => native.has(id) ? native.get(id).ns / 1e6 : undefined;
const perSecond = (id) => native.has(id) ? (native.get(id).elements ?? 1) / (native.get(id).ns / 1e9) : undefined;
const packed = (stage) => {
  if (!existsSync('dist')) return undefined;
  // A copy may be left from an older build, so it counts only beside its file.
  const names = readdirSync('dist').filter((name) => isLoaded(name) && stageOf(name) === stage && existsSync(join('dist', `${name}.br`)));
  return names.reduce((sum, name) => sum + readFileSync(join('dist', `${name}.br`)).length / 1000, 0);
};

/** What, value, unit, budget, whether more is better. */
const rows = [
  ['first load up to racks that answer, brotli', packed(STAGES[0]), 'KB', BUDGET_KB],
  ['then by itself, the panel of one step, brotli', packed(STAGES[1]), 'KB'],
  ['engine ready, 4x CPU slow-down, median', inBrowser('engine_ready_4x_ms'), 'ms', 1500],
  ['click to painted frame, NVL72 x 8 domains, p95', inBrowser('click_to_painted_p95_ms'), 'ms', 16.7],
  ['the same of a page with nothing but one canvas', inBrowser('bare_click_to_painted_p95_ms'), 'ms'],
  ['the same while the last click still moves tiles, p95', inBrowser('hasty_click_to_painted_p95_ms'), 'ms', 16.7],
  ['pan and zoom over 100,000 spans, frame p95', inBrowser('gantt_frame_p95_ms'), 'ms', 16.7],
  ['pan and zoom over 100,000 GPUs, frame p95', inBrowser('fleet_frame_p95_ms'), 'ms', 16.7],
  ['playing 100,000 GPUs at 1 day/s, frame p95', inBrowser('fleet_play_p95_ms'), 'ms', 16.7],
  ['step evaluations, one core, native', perSecond('cost/steps'), '/s', 300_000, true],
  ['step evaluations, one core, wasm', inBrowser('steps_per_s'), '/s', 150_000, true],
  ['28-day fleet runs, 1,024 GPUs, native', perSecond('fleet/28 days of 1,024 GPUs'), '/s', 20_000, true],
  ['28-day fleet runs, 1,024 GPUs, wasm', inBrowser('fleet_runs_per_s'), '/s', 10_000, true],
  ['1F1B schedule of 16,384 operations', ms('timeline/1f1b of 16,384 operations'), 'ms', 2],
  ['timeline of the default scene, wasm', inBrowser('timeline_ms'), 'ms', 4],
  ['trace of 144,000 slices, native', ms('timeline/trace of 144,000 slices'), 'ms', 150],
];
const ratio = perSecond('cost/steps') / inBrowser('steps_per_s');
if (Number.isFinite(ratio)) rows.push(['native against wasm, step evaluations', ratio, 'x', 2]);

const digits = (value) => value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 100 ? 0 : 2);
const line = (...cells) => console.log(`${cells[0].padEnd(52)}${cells[1].padStart(12)} ${cells[2].padEnd(4)}${cells[3].padStart(10)}  ${cells[4]}`);
console.log(`\n${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores`);
line('measured', 'value', '', 'budget', '');
for (const [what, value, unit, budget, more] of rows) {
  if (value === undefined || Number.isNaN(value)) {
    line(what, 'not measured', unit, budget === undefined ? '' : digits(budget), '');
    continue;
  }
  if (budget === undefined) {
    line(what, digits(value), unit, '', '');
    continue;
  }
  const met = more ? value >= budget : value <= budget;
  line(what, digits(value), unit, digits(budget), met ? 'met' : 'MISSED');
}
const known = ['cost/steps', 'fleet/28 days of 1,024 GPUs', 'timeline/1f1b of 16,384 operations', 'timeline/trace of 144,000 slices'];
const others = [...native].filter(([id]) => !known.includes(id));
if (others.length > 0) console.log('\nother native measurements');
for (const [id, { ns, elements }] of others) {
  line(id, digits(ns / 1e6), 'ms', '', elements ? `${digits(elements / (ns / 1e9))} /s` : '');
}
