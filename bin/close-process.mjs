// The process holds the keys of an account, so what Node and the system offer to look into a process is closed before
// the program is loaded (SIGUSR1 in early-signals.mjs). What each start passes beside it, and what is left open:
// SECURITY.md, "Others on the machine".

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/** `prlimit` answers within milliseconds. A machine that is slower starts without it: the filter has been written. */
const PRLIMIT_MS_MAX = 2000
/** The inspector is a port on loopback without a password. The others write memory or variables to a file. */
const EXPOSING = /^--(inspect|heapsnapshot-|report-on-|report-uncaught-exception)/

leaveNoCore()

/** The flag for which nothing is started; undefined where there is none. */
export const exposingFlag = findExposingFlag()

/**
 * A core would hold the keys. The filter leaves all memory out of it, whoever collects it; children inherit that. With
 * `prlimit` none is written at all. Other systems have neither.
 */
function leaveNoCore() {
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
    if (/^Max core file size +0 /m.test(readFileSync('/proc/self/limits', 'utf8'))) return
  } catch {
    // Without /proc the limit is set all the same.
  }
  spawnSync('prlimit', ['--core=0', '--pid', String(process.pid)], {
    stdio: 'ignore',
    timeout: PRLIMIT_MS_MAX,
  })
}

function findExposingFlag() {
  if (process.env.INTENTD_DEBUG === '1') return undefined
  const given = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  return given.find((one) => EXPOSING.test(one.replace(/^"/, '').replaceAll('_', '-')))
}
