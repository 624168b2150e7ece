import { fileURLToPath } from 'node:url'
import { call } from '../../src/cli/call/call.ts'
import { systemClock } from '../../src/lib/clock.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const PAPER = `${ROOT}config/paper.yaml`

export interface CallResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The command as it is typed, through its own code path, on the shipped paper configuration. */
export async function typed(
  words: readonly string[],
  { cwd = ROOT, config = PAPER } = {},
): Promise<CallResult> {
  const out: string[] = []
  const err: string[] = []
  const code = await call([...words, '-c', config], {
    cwd,
    clock: systemClock,
    print: (text) => void out.push(text),
    printError: (text) => void err.push(text),
  })
  return { code, out: out.join(''), err: err.join('') }
}
