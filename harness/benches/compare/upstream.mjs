// One measurement of the real library in a fresh process, printed as a line of JSON.
//
// `node upstream.mjs load FILE` reads a log from disk, parses it line by line, restores a session and derives its
// messages. `node upstream.mjs append FILE` appends the events of a log to a new session, one by one.

import { readFileSync } from 'node:fs'
import { Session, SessionId, decodeStorageRecord } from '@deepseek-ai/dsh-session'

/** The header and the events of a log; packed rows are expanded as the library's own persistence does it. */
function read(path) {
  const bytes = readFileSync(path)
  let header
  const events = []
  // Lines are cut out of the buffer: a log need not fit into one string.
  for (let from = 0, to; (to = bytes.indexOf(0x0a, from)) !== -1; from = to + 1) {
    const record = JSON.parse(bytes.toString('utf8', from, to))
    if (header === undefined) {
      header = record
    } else if (record.type.endsWith('-chunks')) {
      for (const event of decodeStorageRecord(record)) events.push(event)
    } else {
      events.push(record)
    }
  }
  delete header.type
  return { header, events }
}

function load(path) {
  const started = performance.now()
  const { header, events } = read(path)
  const session = Session.fromRestore(header.id, events, header)
  const messages = session.deriveMessages()
  return { ms: performance.now() - started, events: events.length, messages: messages.length }
}

function append(path) {
  const { events } = read(path)
  const session = Session.create(SessionId('measure'))
  const started = performance.now()
  for (const { type, data, surfaceOp, sourceEventSeqs } of events) {
    if (surfaceOp === undefined) session.append(type, data)
    else if (sourceEventSeqs === undefined) session.append(type, data, { surfaceOp })
    else session.append(type, data, { surfaceOp, sourceEventSeqs })
  }
  const ms = performance.now() - started
  return { ms, events: events.length, nsPerEvent: (ms * 1e6) / events.length }
}

const [what, path] = process.argv.slice(2)
const measurements = { load, append }
if (!Object.hasOwn(measurements, what) || path === undefined) {
  console.error('usage: node upstream.mjs load|append FILE')
  process.exit(2)
}
const result = measurements[what](path)
console.log(JSON.stringify({ ...result, peakKiB: process.resourceUsage().maxRSS }))
