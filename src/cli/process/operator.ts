import { hostname, userInfo } from 'node:os'
import { listHolders } from '../../assembly/state/state-directory.ts'
import { systemClock } from '../../lib/clock.ts'
import { cleanLines } from '../../lib/text/clean-text.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { wrapForScreen } from '../../lib/text/wrap-words.ts'

/** How often a file is looked at that another process writes, ms. */
const LOOK_MS = 100

/** Of a terminal that does not say how wide it is. */
const COLUMNS = 80

/** Who gives an order at this terminal, for the journal. */
export function operatorName(): string {
  return `${userInfo().username}@${hostname()}`
}

/** Says how far an order is, or what went wrong: in lines as wide as the terminal, or whole where it is piped. */
export function print(text: string): void {
  writeLines(process.stderr, text)
}

/** Says what has come of a command: that is what it was given for, so it goes to standard output. */
export function printResult(text: string): void {
  writeLines(process.stdout, text)
}

function writeLines(output: NodeJS.WriteStream, text: string): void {
  const { isTTY, columns } = output
  const clean = cleanLines(text)
  output.write(`${isTTY ? wrapForScreen(clean, columns || COLUMNS) : clean}\n`)
}

const said = new Set<string>()

/** For what a verb comes upon at each of its reads. */
export function printOnce(text: string): void {
  if (said.has(text)) return
  said.add(text)
  print(text)
}

/** Leaves an order where the daemon looks for it. @throws Failure STATE_UNWRITABLE: then nobody hears of it. */
export function leaveOrder<Left>(directory: string, leave: () => Left): Left {
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

/** Names the daemons that hold the state and have not answered, and what to do about them. False where there are none. */
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

/** Looks until there is something to see; undefined when the time is over. */
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
