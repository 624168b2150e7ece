import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { toStrategyId } from '../../domain/ids.ts'
import { type EngineCommand } from '../../engine/event.ts'
import { type DaemonLogger } from '../reporting/logger.ts'

/** In the state directory: the last run hung, and in which strategy. */
export function hangNoteOf(directory: string): string {
  return join(directory, 'hung.json')
}

interface HangNote {
  /** Unix ms, clock of the machine. */
  readonly at: number
  readonly hungMs: number
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
    const reason = `its code held the last run up for ${hungMs} ms, until it was ended`
    const strategyId = toStrategyId(strategy)
    if (!command({ kind: 'haltStrategy', strategyId, reason, by: 'intentd' })) return
  }
  rmSync(file, { force: true })
}

function readNote(file: string): HangNote | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as HangNote
  } catch {
    return undefined
  }
}
