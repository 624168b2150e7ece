import { judgeOtherCapital } from '../../assembly/settings/changed-capital.ts'
import { toLossSettings, toSurvivalSettings } from '../../assembly/settings/engine-settings.ts'
import { readRunningConfig } from '../../assembly/state/running-config.ts'
import { isEmbedded } from '../../assembly/state/state-place.ts'
import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { rebuildBook } from '../../engine/book/book-rows.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { systemClock } from '../../lib/clock.ts'
import { decimal } from '../../lib/decimal.ts'
import { findNewestJournal } from './newest-journal.ts'

export function findCapitalProblems({ config, documents }: LoadedConfig): readonly Problem[] {
  return [findCapitalRefusal(config)].flatMap((refusal) =>
    refusal === undefined ? [] : [documents.main.problem(['account', 'capital'], refusal)],
  )
}

/** Why a start would refuse `account.capital`, as the journal is now. */
export function findCapitalRefusal(config: DaemonConfig): string | undefined {
  const { account, state } = config
  const file = findNewestJournal(state.directory)
  // A journal may be large.
  if (file === undefined || account.capital === undefined || !hasCapitalChanged(config))
    return undefined
  try {
    const reader = new JournalReader(file)
    try {
      const losses = toLossSettings(config)
      const survives = toSurvivalSettings(config)
      const settings = {
        capital: decimal(account.capital),
        ...(losses && { losses }),
        ...(survives && { survives }),
      }
      const book = rebuildBook(reader.contents(), account.positionMode)
      return judgeOtherCapital({ book, settings }, reader, systemClock.now())?.refusal
    } finally {
      reader.close()
    }
  } catch {
    return undefined
  }
}

/** A simulated account with another capital has its own journal. */
function hasCapitalChanged(config: DaemonConfig): boolean {
  const before = readRunningConfig(config)?.account.capital
  return !isEmbedded(config) && before !== config.account.capital
}
