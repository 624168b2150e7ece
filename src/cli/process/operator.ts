import { hostname, userInfo } from 'node:os'
import { listHolders } from '../../assembly/state/state-directory.ts'
import { systemClock } from '../../lib/clock.ts'
import { cleanLines } from '../../lib/text/clean-text.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { middlemanName } from './middleman.ts'
import { wrapForScreen } from '../../lib/text/wrap-words.ts'

const LOOK_MS = 100

const COLUMNS = 80

const MIDDLEMAN_CHARS_MAX = 60
const CALLER_CHARS_MAX = 100

export function callerName(): string {
  return operatorName().slice(0, CALLER_CHARS_MAX)
}

export function operatorName(): string {
  const user = `${userInfo().username}@${hostname()}`
  const asked = middlemanName()?.replaceAll(/[^\w .-]/g, '')
  return asked === undefined ? user : `${asked.slice(0, MIDDLEMAN_CHARS_MAX)} for ${user}`
}

export function print(text: string): void {
  writeLines(process.stderr, text)
}

export function printResult(text: string): void {
  writeLines(process.stdout, text)
}

function writeLines(output: NodeJS.WriteStream, text: string): void {
  const { isTTY, columns } = output
  const clean = cleanLines(text)
  output.write(`${isTTY ? wrapForScreen(clean, columns || COLUMNS) : clean}\n`)
}

const said = new Set<string>()

export function printOnce(text: string): void {
  if (said.has(text)) return
  said.add(text)
  print(text)
}

export function leaveCommand<Left>(directory: string, leave: () => Left): Left {
  try {
    return leave()
  } catch (error) {
    throw new Failure({
      code: 'STATE_UNWRITABLE',
      sentence: 'nothing was ordered: the command cannot be written where the daemon looks for it',
      facts: { directory, found: messageOf(error) },
      hint: `${isFull(error) ? 'free disk space, and repeat the command' : 'run the command as the user of the daemon'}; if that cannot wait, cancel by hand at the exchange`,
      cause: error,
    })
  }
}

function isFull(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  )
}

export function explainSilence(directory: string): boolean {
  const holders = listHolders(directory)
  for (const { pid, host, name, command } of holders) {
    const where = host === hostname() ? '' : ` on ${host}`
    print(`a daemon holds this state and does not answer: pid ${pid}${where} (${name}: ${command})`)
    print(`  it was stopped:  kill -CONT ${pid}`)
    print(
      `  it hangs:        kill -KILL ${pid}, then start it again: it recovers, and obeys before its first order`,
    )
  }
  return holders.length > 0
}

export async function lookFor<Seen>(
  look: () => Seen | undefined,
  withinMs: number,
): Promise<Seen | undefined> {
  const endAt = systemClock.monotonic() + withinMs
  for (;;) {
    const seen = look()
    if (seen !== undefined || systemClock.monotonic() >= endAt) return seen
    await new Promise<void>((resolve) => systemTimers.after(LOOK_MS, resolve))
  }
}
