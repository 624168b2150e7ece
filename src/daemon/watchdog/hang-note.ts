import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type StrategyId, toStrategyId } from '../../domain/ids.ts'
import type { EngineCommand } from '../../engine/event.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

export function hangNoteOf(directory: string): string {
  return join(directory, 'hung.json')
}

interface HangNote {
  readonly at: number
  readonly hungMs?: number
  readonly strategy?: string
}

/**
 * Halts a strategy that hung the last run. The note is removed only after the halt is durable, so
 * that a crash in between repeats the halt.
 */
export function haltHungStrategy(
  directory: string,
  logger: Pick<DaemonLogger, 'log'>,
  command: (halt: EngineCommand, onRecorded: () => void) => void,
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
    const halt = { kind: 'haltStrategy', strategyId, reason, by: 'intentd' } as const
    return command(halt, () => {
      // Another strategy may have hung meanwhile.
      if (readNote(file)?.at === at) rmSync(file, { force: true })
    })
  }
  rmSync(file, { force: true })
}

/** Strategies whose threads do not end may take the process down at each start. */
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
    } catch {} // The disk may be full; the log has it.
  }
}

function readNote(file: string): HangNote | undefined {
  try {
    return parseBoundedJson(readFileSync(file, 'utf8')) as HangNote
  } catch {
    return undefined
  }
}
