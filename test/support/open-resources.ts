// A test file that leaves a timer, socket, worker or child process behind fails with the line that
// opened it. Vitest's `detectAsyncLeaks` follows promises too, fifty times slower. Imports do not
// show what a part of src/ starts, so a short test that starts a program fails here.

import { createHook } from 'node:async_hooks'
import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect } from 'vitest'
import { isLong, SAMPLES } from './share.ts'

const SOCKETS = ['TCPSERVERWRAP', 'TCPWRAP', 'PIPESERVERWRAP', 'UDPWRAP']
const PROGRAM = 'PROCESSWRAP'
const KINDS = new Set(['Timeout', PROGRAM, 'WORKER', 'FSEVENTWRAP', 'STATWATCHER', ...SOCKETS])

/** Time for closed resources to disappear: a socket's last packet, a child's exit. */
const SETTLING_MS_MAX = 20_000
const SETTLING_STEP_MS = 10

/** Deep enough to reach the caller of `server.listen`. */
const FRAMES_MAX = 30

interface Resource {
  kind: string
  handle: { hasRef?: () => boolean }
  openedAt: string
}

const resources = new Map<number, Resource>()
const programs: string[] = []
let watching = true

const hook = createHook({
  init(id, kind, _trigger, handle) {
    if (!watching || !KINDS.has(kind)) return
    const openedAt = findOpener()
    if (openedAt.includes('/node_modules/vitest/')) return
    resources.set(id, { kind, handle, openedAt })
    if (kind === PROGRAM) programs.push(openedAt)
  },
  destroy(id) {
    resources.delete(id)
  },
  trackPromises: false,
}).enable()

afterAll(async () => {
  watching = false // This hook's own waiting does not count.
  for (
    let waitedMs = 0;
    findLeftOpen().length > 0 && waitedMs < SETTLING_MS_MAX;
    waitedMs += SETTLING_STEP_MS
  ) {
    await sleep(SETTLING_STEP_MS)
  }
  const left = findLeftOpen()
  // The next file of this process has a hook of its own.
  hook.disable()
  if (left.length > 0) throw new Error(['this file leaves open:', ...left].join('\n  '))
  const path = relative(process.cwd(), expect.getState().testPath ?? '')
  if (programs.length === 0 || path in SAMPLES || isLong(path)) return
  const advice = 'this file starts programs: end its name in .long.test.ts (test/support/share.ts)'
  throw new Error([advice, ...programs].join('\n  '))
})

/** Unreferenced timers and sockets keep nothing alive. */
function findLeftOpen(): string[] {
  return [...resources.values()]
    .filter(({ handle }) => handle.hasRef?.() ?? true)
    .map(({ kind, openedAt }) => `${kind} ${openedAt}`)
}

function findOpener(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = FRAMES_MAX
  const frames = new Error().stack?.split('\n').slice(1) ?? []
  Error.stackTraceLimit = limit
  const outside = frames.find(
    (frame) => !frame.includes('node:') && !frame.includes(import.meta.filename),
  )
  return outside?.trim() ?? '(by Node itself)'
}
