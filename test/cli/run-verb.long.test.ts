import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runVerb } from '../../src/cli/process/run-verb.ts'

const [, program = ''] = process.argv
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-verb-'))
})
afterEach(() => {
  process.argv[1] = program
  rmSync(folder, { recursive: true })
})

/** Starts a program of its own, which never ends and keeps the pipes open, and waits for it. */
const STARTING = (pidFile: string) => `
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
writeFileSync(${JSON.stringify(pidFile)}, String(child.pid))
`

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

test('a command of research has one core: its process and its helpers', async () => {
  const script = join(folder, 'verb.mjs')
  writeFileSync(script, 'console.log(process.execArgv[0], process.env.UV_THREADPOOL_SIZE)')
  process.argv[1] = script
  const run = (isOneCore: boolean) =>
    runVerb({ words: [], withinMs: 60_000, by: 'test', isOneCore })

  expect((await run(true)).output).toBe('--v8-pool-size=1 1\n')
  expect((await run(false)).output).toMatch(/^undefined /)
})

test.skipIf(process.platform !== 'linux')(
  'a command that takes too long ends with every program that it has started',
  async () => {
    const pidFile = join(folder, 'pid')
    const script = join(folder, 'verb.mjs')
    writeFileSync(script, STARTING(pidFile))
    process.argv[1] = script
    const asked = new AbortController()
    const running = runVerb({ words: [], withinMs: 60_000, by: 'test', signal: asked.signal })
    while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '')
      await new Promise((done) => setTimeout(done, 20))

    asked.abort()

    expect(await running).toMatchObject({ code: undefined })
    expect(isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false)
  },
)
