import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { MIDDLEMAN_VARIABLE } from './middleman.ts'

export const OUTPUT_CHARS_MAX = 200_000

export interface VerbRun {
  readonly code: number | undefined
  readonly output: string
  readonly aside: string
  readonly isCut: boolean
}

export interface VerbOptions {
  readonly words: readonly string[]
  readonly withinMs: number
  readonly by: string
  /** For codes: other processes can see arguments, but no standard input. */
  readonly input?: string
  readonly isPatient?: boolean
  /** V8 and Node then have one helper thread each. */
  readonly isOneCore?: boolean
  readonly signal?: AbortSignal | undefined
  readonly outputCharsMax?: number | undefined
}

export async function runVerb(options: VerbOptions): Promise<VerbRun> {
  const { words, withinMs, by, input, isPatient = false, signal } = options
  const { outputCharsMax = OUTPUT_CHARS_MAX, isOneCore = false } = options
  const [, program = ''] = process.argv
  const child = spawn(
    process.execPath,
    [...(isOneCore ? ['--v8-pool-size=1'] : []), program, ...words],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        [MIDDLEMAN_VARIABLE]: by,
        NO_COLOR: '1',
        ...(isOneCore && { UV_THREADPOOL_SIZE: '1' }),
      },
      detached: process.platform !== 'win32',
    },
  )
  const end = (): void => endGroup(child)
  const ended = AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])])
  ended.addEventListener('abort', end, { once: true })
  process.once('exit', end)
  if (ended.aborted) end()
  if (isPatient && child.pid !== undefined)
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  // The command may end before it reads.
  child.stdin.on('error', () => undefined).end(input ?? '')
  const output = new BoundedText(outputCharsMax)
  const aside = new BoundedText(outputCharsMax)
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.add(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => aside.add(text))
  child.on('error', () => undefined)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return {
      code: code ?? undefined,
      output: output.text,
      aside: aside.text,
      isCut: output.isCut,
    }
  } finally {
    ended.removeEventListener('abort', end)
    process.off('exit', end)
  }
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {}
}

class BoundedText {
  text = ''
  isCut = false
  readonly #charsMax: number

  constructor(charsMax: number) {
    this.#charsMax = charsMax
  }

  add(more: string): void {
    const room = this.#charsMax - this.text.length
    this.isCut ||= more.length > room
    this.text += more.slice(0, room)
  }
}
