import type { DaemonConfig } from '../../config/load-config.ts'
import type { Book } from '../../engine/book/book.ts'
import { findGridConflict } from '../../engine/book/convert-grids.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { Failure } from '../../lib/failure.ts'
import { isEmbedded } from '../state/state-place.ts'
import { toInstruments } from './engine-settings.ts'

/**
 * Also called before a run ends for a reload. @throws Failure if the book counts an instrument in
 * steps that do not convert to the configured ones
 */
export function assertGrids(book: Book, settings: Pick<EngineSettings, 'instruments'>): void {
  const failure = objectToGrids(book, settings)
  if (failure !== undefined) throw failure
}

function objectToGrids(
  book: Book,
  { instruments }: Pick<EngineSettings, 'instruments'>,
): Failure | undefined {
  const conflict = findGridConflict(book, instruments)
  if (!conflict) return undefined
  const { symbol, was, is, number } = conflict
  return new Failure({
    code: 'STATE_GRIDS_CHANGED',
    sentence:
      'the journal counts an instrument in other ticks or lots than the configuration, and cannot convert them',
    facts: {
      instrument: symbol,
      journal: `tickSize ${was.tick}, lotSize ${was.lot}`,
      configuration: `tickSize ${is.tick}, lotSize ${is.lot}`,
      inexact: number,
    },
    hint: `write the sizes of the journal into the configuration (instruments.${symbol}: tickSize: "${was.tick}", lotSize: "${was.lot}"), start, and flatten the instrument; if the exchange rejects prices between its new ticks, close it on the exchange's page or in its app. An hour later stop and remove the two lines. Or begin with another state.directory`,
  })
}

/** A simulated account with other instruments has its own journal. */
export function findGridFailure(book: Book, config: DaemonConfig): Failure | undefined {
  return isEmbedded(config)
    ? undefined
    : objectToGrids(book, { instruments: toInstruments(config) })
}

export function listGridProblems(book: Book, config: DaemonConfig): readonly string[] {
  return [findGridFailure(book, config)].flatMap((failure) => failure?.message ?? [])
}
