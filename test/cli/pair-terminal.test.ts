import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'
import { codeAt } from '../support/approval/memory-pairing.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/intentd.mjs', import.meta.url))
const STEP_MS = 30_000

const projects = new Projects()
afterAll(() => projects.close())

/** Gives `pair` a terminal, and one answer to each question, from the secret that it shows. */
async function pairAtTerminal(directory: string, answers: readonly ((secret: string) => string)[]) {
  const words = [process.execPath, LAUNCHER, 'pair'].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', words, '/dev/null'], {
    cwd: directory,
    stdio: 'pipe',
    env: { PATH: process.env['PATH'], HOME: directory, XDG_STATE_HOME: directory },
  })
  let text = ''
  let given = 0
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more
    const asked = text.split('code: ').length - 1
    const answer = answers[given]
    if (asked <= given || answer === undefined) return
    given++
    child.stdin.write(`${answer(/secret=([A-Z2-7]+)/.exec(text)?.[1] ?? '')}\n`)
  })
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, text, given }
}

const right = (secret: string): string => codeAt(Date.now(), secret)
/** No code of the present steps. */
const wrong = (secret: string): string => codeAt(Date.now() - 1000 * STEP_MS, secret)

const hasScript = spawnSync('script', ['--version']).status === 0

test.skipIf(!hasScript)(
  'at a terminal a wrong code is asked for again, three times in all (not checked without script)',
  async () => {
    const [first, second] = [projects.open(), projects.open()]
    const [mistyped, failed] = await Promise.all([
      pairAtTerminal(first.directory, [wrong, right]),
      pairAtTerminal(second.directory, [wrong, wrong, wrong]),
    ])

    expect(mistyped).toMatchObject({ code: 0, given: 2 })
    expect(mistyped.text).toContain('no code of this secret; 2 more')
    expect(existsSync(join(first.directory, '.intentd/paper/pairing.json'))).toBe(true)
    expect(failed).toMatchObject({ code: 1, given: 3 })
    expect(failed.text).toContain('not paired: that is no code of this secret')
    expect(existsSync(join(second.directory, '.intentd/paper/pairing.json'))).toBe(false)
  },
)
