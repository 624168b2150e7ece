import { describeJournalPlace, type JournalPlace } from '../../domain/journal-place.ts'
import type { GroupBy } from '../../domain/row-groups.ts'

export function describeProfitRows(journal: JournalPlace, by: GroupBy): string {
  const unrealised = `${describeJournalPlace(journal)}; net is realised less fees, with funding: unrealised profit is in \`intentd status\`\n`
  if (by !== 'strategy') return unrealised
  return `${unrealised}realised is what each strategy has made of its own lots, at its own average price; the exchange's figure, at that of the account, is in \`--by instrument\`\n`
}

export function describeUnexplained([strategyId, symbol]: readonly [string, string]): string {
  return `the fills of the journal do not explain what ${strategyId} holds of ${symbol}: some of its trades may be wrong\n`
}
