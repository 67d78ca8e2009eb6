// foldproof beside the real library, in one run: whole processes in turn (A B A B …), medians, ratios.
//
// `compare.sh` installs and builds what this needs. `node compare.mjs [--runs 7] [--quick] [--json FILE] [--only TEXT]`;
// --quick takes a hundred thousand events where it is a million otherwise.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const here = dirname(fileURLToPath(import.meta.url))
const target = resolve(process.env.CARGO_TARGET_DIR ?? join(here, '../../../target'))
const foldproof = process.env.FOLDPROOF ?? join(target, 'dist/foldproof')
const measure = process.env.MEASURE ?? join(target, 'dist/examples/measure')
const upstream = join(here, 'upstream.mjs')
const logs = join(target, 'compare')

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '7' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})
const runs = Number(options.runs)

/** Logs: name, shape, events, and how many times as fast as the real library is wanted. */
const LOGS = [
  ['plain-10k', 'plain', 10_000, undefined],
  ['plain-100k', 'plain', 100_000, 10],
  ['plain-1m', 'plain', 1_000_000, 8],
  ['compact-1m', 'compact', 1_000_000, undefined],
  ['prune-1m', 'prune', 1_000_000, undefined],
  ['packed-1m', 'packed', 1_000_000, 7],
  ['scatter-100k', 'scatter', 120_000, 18],
  ['collapse-100k', 'collapse', 100_000, 7],
]
const GOALS = { append: 20, appendTree: 7, jobs: 1.7, loaderMemory: 1.15, checkerMiB: 64 }

function fail(message) {
  console.error(message)
  process.exit(2)
}

/** Runs a program to its end; gives its wall and processor time in ms, and what it printed. */
function run(program, args) {
  // The shell is asked for the processor time of its child, because Node does not tell it. Wall time includes the
  // shell's own start, some two milliseconds on both sides.
  const timed = ['-c', 'TIMEFORMAT="%3R %3U %3S"; time "$@"', 'time', program, ...args]
  const ran = spawnSync('bash', timed, { encoding: 'utf8', maxBuffer: 1 << 26 })
  if (ran.error || ran.status !== 0) {
    fail(`${program} ${args.join(' ')}: ${ran.error ?? `exit ${ran.status}`}\n${ran.stdout}${ran.stderr}`)
  }
  const [wall, user, system] = ran.stderr.trimEnd().split('\n').at(-1).split(' ').map(Number)
  return { wall: wall * 1e3, cpu: (user + system) * 1e3, out: ran.stdout }
}

/** The most memory that a process held, in KiB: its own high-water mark, read until it ends. Nothing beside Linux. */
function peak(program, args) {
  return new Promise((done) => {
    let most
    const child = spawn(program, args, { stdio: 'ignore' })
    const look = setInterval(() => {
      try {
        const found = /VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
        if (found) most = Math.max(most ?? 0, Number(found[1]))
      } catch {
        // It has ended, or this system has no such file.
      }
    }, 2)
    child.on('close', () => {
      clearInterval(look)
      done(most)
    })
  })
}

const median = (list) => [...list].sort((one, two) => one - two)[list.length >> 1]
const spread = (list) => [Math.min(...list), Math.max(...list)]
const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2))
const wanted = (name) => name.includes(options.only)

/** Runs two measurements in turn; the ratio is the median of the pairs' ratios, by wall and by processor time. */
function pairs(ours, theirs) {
  const list = []
  for (let turn = 0; turn < runs; turn++) list.push([ours(), theirs()])
  const ratios = list.map(([one, two]) => two.wall / one.wall)
  return {
    ours: median(list.map(([one]) => one.wall)),
    theirs: median(list.map(([, two]) => two.wall)),
    ratio: median(ratios),
    spread: spread(ratios),
    cpuRatio: median(list.map(([one, two]) => two.cpu / Math.max(one.cpu, 1))),
  }
}

function log(name, shape, events) {
  const path = join(logs, `${name}.jsonl`)
  if (!existsSync(path)) {
    run(foldproof, ['gen', '--shape', shape, '--events', String(events), '--seed', '1', '--force', '-o', `${path}.new`])
    renameSync(`${path}.new`, path)
  }
  return path
}

const rows = []
function row(name, figures, goal, unit) {
  rows.push({ name, ...figures, goal, unit })
  const kept = goal === undefined || figures.ratio >= goal
  const range = figures.spread.map(digits).join('..')
  console.log(
    [
      name.padEnd(34),
      `${digits(figures.ours)} ${unit}`.padStart(12),
      `${digits(figures.theirs)} ${unit}`.padStart(12),
      `${digits(figures.ratio)}x`.padStart(8),
      `[${range}]`.padStart(16),
      `${digits(figures.cpuRatio)}x`.padStart(8),
      (goal === undefined ? '' : `>= ${goal}x`).padStart(9),
      kept ? '' : '  missed',
    ].join(''),
  )
}

for (const program of [foldproof, measure]) {
  if (!existsSync(program)) fail(`${program} is not there; compare.sh builds it`)
}
mkdirSync(logs, { recursive: true })
// The quick run takes a tenth of the long logs; what is there twice then is left out, and bars are those of long logs.
const sized = LOGS.map(([name, shape, events, goal]) =>
  options.quick && name.endsWith('-1m') ? [name.replace('-1m', '-100k'), shape, 100_000, goal] : [name, shape, events, goal],
)
const all = sized.filter(([name], at) => sized.findIndex(([other]) => other === name) === at)
const paths = Object.fromEntries(all.map(([name, shape, events]) => [name, log(name, shape, events)]))

console.log(`median of ${runs} pairs; real library beside foldproof, ratio [spread], goal\n`)
const heads = ['foldproof', 'library', 'ratio', 'spread', 'by cpu', 'goal']
const widths = [12, 12, 8, 16, 8, 9]
console.log('whole process'.padEnd(34) + heads.map((head, at) => head.padStart(widths[at])).join(''))
for (const [name, , , goal] of all.filter(([name]) => wanted(`check ${name}`))) {
  const path = paths[name]
  const theirs = () => run(process.execPath, ['--max-old-space-size=12000', upstream, 'load', path])
  row(`check ${name}`, pairs(() => run(foldproof, ['check', '--reader=provider', path]), theirs), goal, 'ms')
  // Relations are looked at too, which the library does not do when it opens a log.
  if (name === 'plain-1m' || name === 'plain-100k') {
    row(`check ${name}, with relations`, pairs(() => run(foldproof, ['check', path]), theirs), undefined, 'ms')
  }
}

/** What a measuring process says of itself: the appends alone, without reading the log. */
const said = (program, args) => {
  const { nsPerEvent } = JSON.parse(run(program, args).out)
  return { wall: nsPerEvent, cpu: nsPerEvent }
}
const one = (what) => () => said(measure, [what, paths['plain-100k']])
if (wanted('append')) {
  const theirs = () => said(process.execPath, [upstream, 'append', paths['plain-100k']])
  row('append an event, as text', pairs(one('append'), theirs), GOALS.append, 'ns')
  row('append an event, as a tree', pairs(one('append-tree'), theirs), GOALS.appendTree, 'ns')
}

if (wanted('jobs')) {
  const folder = join(logs, 'thousand')
  if (!existsSync(folder)) {
    mkdirSync(`${folder}.new`, { recursive: true })
    for (let seed = 0; seed < 1_000; seed++) {
      const out = join(`${folder}.new`, `log-${String(seed).padStart(4, '0')}.jsonl`)
      const about = ['--shape', 'plain', '--events', '1000', '--seed', (seed + 1).toString(16)]
      run(foldproof, ['gen', ...about, '-o', out, '--force'])
    }
    renameSync(`${folder}.new`, folder)
  }
  const jobs = (count) => () => run(foldproof, ['check', '--reader=provider', '--jobs', count, folder])
  row('check 1,000 logs: two jobs over one', pairs(jobs('2'), jobs('1')), GOALS.jobs, 'ms')
}

const memory = []
if (wanted('memory')) {
  const name = options.quick ? 'plain-100k' : 'plain-1m'
  const path = paths[name]
  const compressed = path.replace('.jsonl', '.jsonl.zstd')
  if (!existsSync(compressed)) run(foldproof, ['convert', path, '-o', compressed])
  const file = statSync(path).size
  console.log(`\n${'peak memory, MiB'.padEnd(50)}${'now'.padStart(8)}${'bound'.padStart(8)}`)
  const measured = [
    [`check ${name}`, foldproof, ['check', '--reader=provider', path], GOALS.checkerMiB],
    [`check ${name} as zstd`, foldproof, ['check', '--reader=provider', compressed], GOALS.checkerMiB],
    [`load ${name} and keep it`, measure, ['load', path], (GOALS.loaderMemory * file) / 2 ** 20],
    [`real library: load ${name}`, process.execPath, ['--max-old-space-size=12000', upstream, 'load', path]],
  ]
  for (const [title, program, args, bound] of measured) {
    const held = await peak(program, args)
    if (held === undefined) continue
    const mib = held / 1024
    memory.push({ name: title, mib, bound })
    const missed = bound !== undefined && mib > bound ? '  missed' : ''
    console.log(`${title.padEnd(50)}${digits(mib).padStart(8)}${(bound ? digits(bound) : '').padStart(8)}${missed}`)
  }
  console.log(`${'the file'.padEnd(50)}${digits(file / 2 ** 20).padStart(8)}`)
}

if (options.json) writeFileSync(options.json, `${JSON.stringify({ runs, rows, memory }, undefined, 2)}\n`)
