import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { addOperatedOptions } from '../operator/operated-config.ts'
import { showEachAccount } from './each-account.ts'
import { readDaemon, type ShowOptions } from '../operator/find-daemon.ts'
import { formatPositions } from './position-table.ts'
import { describeJournalPlace } from '../../domain/journal-place.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

export function addPositionsCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('positions'))
    .description(
      'show what the account holds, with entry, mark and unrealised profit, and which strategy holds it',
    )
    .option('--json', 'as JSON')
    .action(async (options: ShowOptions) => setExit(await showEachAccount(options, showPositions)))
}

async function showPositions(options: ShowOptions): Promise<number> {
  const found = await readDaemon(options, '/v1/positions', async (account) => {
    const { viewPositions } = await import('../../views/account-view.ts')
    return viewPositions(account)
  })
  if (found.kind === 'nothing') return found.exitCode
  writeOut(
    options.json ? `${JSON.stringify(found.answer, undefined, 2)}\n` : formatPositions(found.view),
  )
  const [first] = found.view
  if (first !== undefined) writeAside(`from ${describeJournalPlace(first.journal)}\n`)
  return 0
}
