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

/** A strategy whose code held the last run up would hold this one up too: what is commanded at the start. */
export function haltWhoHung(directory: string, logger: Pick<DaemonLogger, 'log'>): EngineCommand | undefined {
  const { at, hungMs, strategy } = takeNote(hangNoteOf(directory)) ?? {}
  if (at === undefined || strategy === undefined) return undefined
  logger.log('error', 'strategy.hung', { strategy, hungMs, at: new Date(at).toISOString() })
  const reason = `its code held the last run up for ${hungMs} ms, until it was ended`
  return { kind: 'haltStrategy', strategyId: toStrategyId(strategy), reason, by: 'intentd' }
}

/** It is taken away. */
function takeNote(file: string): HangNote | undefined {
  try {
    const note = JSON.parse(readFileSync(file, 'utf8')) as HangNote
    rmSync(file)
    return note
  } catch {
    return undefined
  }
}
