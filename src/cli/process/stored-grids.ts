import { findGridFailure } from '../../assembly/settings/assert-grids.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { readGrids } from '../../assembly/state/known-grids.ts'
import type { LoadedConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { rebuildBook } from '../../engine/book/book-rows.ts'
import type { Failure } from '../../lib/failure.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { findNewestJournal } from './newest-journal.ts'

export function findGridProblems(loaded: LoadedConfig): readonly Problem[] {
  return [findStoredGridFailure(loaded)].flatMap((failure) =>
    failure === undefined ? [] : [loaded.documents.main.problem(['instruments'], failure.message)],
  )
}

export function findStoredGridFailure({
  config,
}: Pick<LoadedConfig, 'config'>): Failure | undefined {
  const file = findNewestJournal(config.state.directory)
  // A journal may be large.
  if (file === undefined || !haveStepsChanged(config)) return undefined
  try {
    const reader = new JournalReader(file)
    try {
      const book = rebuildBook(reader.contents(), config.account.positionMode)
      return findGridFailure(book, config)
    } finally {
      reader.close()
    }
  } catch {
    return undefined
  }
}

function haveStepsChanged(config: LoadedConfig['config']): boolean {
  const kept = readGrids(config.state.directory)
  return [...toInstruments(config)].some(([symbol, { tick, lot }]) => {
    const was = kept.get(symbol)
    return was !== undefined && (was.tick.step !== tick.step || was.lot.step !== lot.step)
  })
}
