import type { Command } from 'commander'
import type { UniverseView } from '../../control/universe-view.ts'
import { showTime } from '../../report/text/figures.ts'
import { writeOut } from '../../lib/write-out.ts'
import { addOperatedOptions } from '../operator/operated-config.ts'
import { readDaemon, type ShowOptions } from '../operator/find-daemon.ts'
import { formatTable } from '../process/table.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { showEachAccount } from './each-account.ts'

interface UniverseOptions extends ShowOptions {
  readonly strategy?: string
  readonly symbol?: string
}

export function addUniverseCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('universe'))
    .description(
      'show which instruments the rules of strategies have chosen, and why each is in or out',
    )
    .option('--strategy <id>', 'only of this strategy')
    .option('--symbol <symbol>', 'only this instrument')
    .option('--json', 'as JSON')
    .action(async (options: UniverseOptions) =>
      setExit(await showEachAccount(options, showUniverses)),
    )
}

async function showUniverses(options: UniverseOptions): Promise<number> {
  const found = await readDaemon<readonly UniverseView[]>(
    options,
    '/v1/universe',
    async (account) => {
      const { viewUniverses } = await import('../../views/universe-view.ts')
      return viewUniverses(account)
    },
  )
  if (found.kind === 'nothing') return found.exitCode
  const { strategy, symbol } = options
  const known = options.json ? found.answer : found.view
  const views = known.filter((view) => strategy === undefined || view.strategy === strategy)
  const ofSymbol = ({ instruments }: UniverseView): UniverseView['instruments'] =>
    instruments.filter((row) => row.symbol === (symbol ?? row.symbol))
  const shown = views.map((view) => ({ ...view, instruments: ofSymbol(view) }))
  writeOut(
    options.json
      ? `${JSON.stringify(shown, undefined, 2)}\n`
      : formatUniverses(views, { onlySymbol: symbol }),
  )
  return 0
}

interface ShownRows {
  readonly onlySymbol?: string | undefined
}

export function formatUniverses(views: readonly UniverseView[], shown: ShownRows = {}): string {
  if (views.length === 0) return 'no strategy has a universe\n'
  return views.map((view) => formatUniverse(view, shown)).join('\n')
}

function formatUniverse(view: UniverseView, { onlySymbol }: ShownRows): string {
  const { strategy, evaluatedAt, dueAt, waitsFor, count, left, leftMax, instruments } = view
  const members = instruments.filter(({ state }) => state === 'in').length
  const when =
    evaluatedAt === null
      ? `not evaluated yet${waitsFor === null ? '' : `, waits for ${waitsFor}`}`
      : `evaluated ${showTime(evaluatedAt)} UTC, next ${waitsFor === null ? showTime(dueAt ?? evaluatedAt) : `waits for ${waitsFor}`}`
  const changes = `${left}${leftMax === null ? '' : ` of ${leftMax}`} have left within 24 h`
  const head = `${strategy}: ${members} of ${count} chosen; ${when}; ${changes}\n`
  const rows = instruments.filter(({ symbol }) => symbol === (onlySymbol ?? symbol))
  if (rows.length === 0)
    return onlySymbol === undefined || evaluatedAt === null
      ? head
      : `${head}${onlySymbol}: the exchange does not list it\n`
  return `${head}${formatTable(
    [
      { title: 'instrument', of: ({ symbol }) => symbol },
      { title: 'state', of: ({ state }) => state },
      { title: 'since', of: ({ since, at }) => showTime(since ?? at) },
      {
        title: 'why',
        of: ({ words, waitsFor: still }) => (still === null ? words : `${words}; ${still}`),
        isElastic: true,
      },
    ],
    rows,
  )}`
}
