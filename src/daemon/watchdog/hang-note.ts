import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type StrategyId, toStrategyId } from '../../domain/ids.ts'
import type { EngineCommand } from '../../engine/event.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/** In the state directory: the last run hung, and in which strategy. */
export function hangNoteOf(directory: string): string {
  return join(directory, 'hung.json')
}

interface HangNote {
  /** Unix ms, clock of the machine. */
  readonly at: number
  /** Absent where a thread of it that was ended ran on. */
  readonly hungMs?: number
  /** Whose code ran; absent where it was ours. */
  readonly strategy?: string
}

/**
 * A strategy whose code held the last run up would hold this one up too. Its note is taken away when the halt is
 * recorded, and no sooner: a process that dies in between halts it at the next start.
 * @param command Whether it is recorded.
 */
export function haltWhoHung(
  directory: string,
  logger: Pick<DaemonLogger, 'log'>,
  command: (halt: EngineCommand) => boolean,
): void {
  const file = hangNoteOf(directory)
  const { at, hungMs, strategy } = readNote(file) ?? {}
  if (at !== undefined && strategy !== undefined) {
    logger.log('error', 'strategy.hung', { strategy, hungMs, at: new Date(at).toISOString() })
    const reason =
      hungMs === undefined
        ? 'its thread ran on after it was ended, in the last run'
        : `its code held the last run up for ${hungMs} ms, until it was ended`
    const strategyId = toStrategyId(strategy)
    if (!command({ kind: 'haltStrategy', strategyId, reason, by: 'intentd' })) return
  }
  rmSync(file, { force: true })
}

/**
 * Notes each strategy of which a thread does not end, for as long as it does not: it may take the whole process with
 * it, and would at each start.
 */
export function noteEndings(
  directory: string,
  now: () => number,
): (id: StrategyId, isEnding: boolean) => void {
  const ending = new Map<StrategyId, number>()
  return (id, isEnding) => {
    if (isEnding) ending.set(id, ending.get(id) ?? now())
    else ending.delete(id)
    const [first] = ending
    const file = hangNoteOf(directory)
    try {
      if (first === undefined) return rmSync(file, { force: true })
      const note: HangNote = { at: first[1], strategy: first[0] }
      writeFileSync(file, JSON.stringify(note), { mode: 0o600 })
    } catch {
      // A full disk: the log has it.
    }
  }
}

function readNote(file: string): HangNote | undefined {
  try {
    return parseBoundedJson(readFileSync(file, 'utf8')) as HangNote
  } catch {
    return undefined
  }
}
