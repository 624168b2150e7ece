// A test file that leaves a timer, a socket, a worker or a child process behind fails, and is told which
// line opened it. Vitest's own detector (`detectAsyncLeaks`) follows promises too, fifty times slower.

import { createHook } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'

/** The runtime's names of what keeps a process alive. */
const SOCKETS = ['TCPSERVERWRAP', 'TCPWRAP', 'PIPESERVERWRAP', 'UDPWRAP']
const KINDS = new Set([
  'Timeout',
  'PROCESSWRAP',
  'WORKER',
  'FSEVENTWRAP',
  'STATWATCHER',
  ...SOCKETS,
])

/** How long what was closed may take to be gone: a socket's last packet, a child's exit. */
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
let watching = true

const hook = createHook({
  init(id, kind, _trigger, handle) {
    if (!watching || !KINDS.has(kind)) return
    const openedAt = findOpener()
    if (!openedAt.includes('/node_modules/vitest/')) resources.set(id, { kind, handle, openedAt })
  },
  destroy(id) {
    resources.delete(id)
  },
  trackPromises: false,
}).enable()

afterAll(async () => {
  watching = false // What this hook itself waits with is not the file's.
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
})

/** Unreferenced timers and sockets hold nobody up: they are not counted. */
function findLeftOpen(): string[] {
  return [...resources.values()]
    .filter(({ handle }) => handle.hasRef?.() ?? true)
    .map(({ kind, openedAt }) => `${kind} ${openedAt}`)
}

/** The innermost line of code outside of Node itself. */
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
