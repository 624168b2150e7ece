// Loaded into a daemon by `node --import`: the system's clock steps as somebody says while it runs.
// INTENTD_CLOCK_FILE holds by how many ms the clock is ahead of the true one; it is looked at again and again.
import { readFileSync } from 'node:fs'

/** How often the file is looked at, ms. */
const LOOK_EVERY_MS = 20

const file = process.env['INTENTD_CLOCK_FILE'] ?? ''
const trueNow = Date.now.bind(Date)
let aheadMs = readAhead()

Date.now = () => trueNow() + aheadMs
setInterval(() => (aheadMs = readAhead()), LOOK_EVERY_MS).unref()

function readAhead(): number {
  return Number(readFileSync(file, 'utf8'))
}
