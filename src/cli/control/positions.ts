import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import type { PositionView } from '../../control/views.ts'
import { viewPositions } from '../../daemon/control/account-view.ts'
import { addOperatedOptions } from '../operator/operated-config.ts'
import { showEachAccount } from './each-account.ts'
import { readDaemon, type ShowOptions } from './find-daemon.ts'
import { age, formatTable, money } from './table.ts'
import { writeOut } from '../process/write-out.ts'

/** `intentd positions`: what is held, and by whom. */
export function addPositionsCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('positions'))
    .description(
      'show what the account holds, with entry, mark and unrealised profit, and which strategy holds it',
    )
    .option('--json', 'as JSON')
    .action(async (options: ShowOptions) => setExit(await showEachAccount(options, showPositions)))
}

async function showPositions(options: ShowOptions): Promise<number> {
  const found = await readDaemon(options, '/v1/positions', viewPositions)
  if (found.kind === 'nothing') return found.exitCode
  writeOut(options.json ? `${JSON.stringify(found.view, undefined, 2)}\n` : formatPositions(found.view))
  return 0
}

export function formatPositions(positions: readonly PositionView[]): string {
  if (positions.length === 0) return 'no position\n'
  // A strategy stays in the line of what it holds.
  return formatTable(
    [
      { title: 'position', of: ({ symbol, side }) => `${symbol} ${side}` },
      { title: 'size', of: ({ size }) => size, isNumber: true },
      {
        title: 'entry',
        of: ({ entryPrice, entryFrom }) =>
          entryFrom === 'exchange' ? `${price(entryPrice)} by the exchange` : price(entryPrice),
        isNumber: true,
      },
      { title: 'mark', of: ({ markPrice }) => price(markPrice), isNumber: true },
      {
        title: 'by the exchange',
        of: ({ unrealisedProfit, coin }) => money(unrealisedProfit, coin),
        isNumber: true,
      },
      ...(positions.some((view) => liquidationOf(view) !== NONE) ? [LIQUIDATION] : []),
      { title: 'read', of: ({ readAgeMs }) => age(readAgeMs), isNumber: true },
      {
        title: 'held by',
        of: ({ strategies }) =>
          Object.entries(strategies)
            .map(([name, size]) => `${name}\u00A0${size}`)
            .join(', '),
        isBelow: true,
      },
    ],
    positions,
  ).replaceAll('\u00A0', ' ')
}

const NONE = '-'

const LIQUIDATION = { title: 'liquidation', of: liquidationOf, isNumber: true }

/** The price, and how far the mark is from it; with a question mark where two figures differ. */
function liquidationOf({ liquidationPrice, liquidation }: PositionView): string {
  const at = liquidationPrice ?? liquidation?.ourPrice ?? null
  if (at === null) return NONE
  const distance = liquidation?.distance ?? null
  const far = distance === null ? '' : `, ${(distance * 100).toFixed(1)}\u00A0%`
  return `${price(at)}${far}${liquidation?.trust === 'disputed' ? '?' : ''}`
}

/** Seven digits that count. */
function price(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(7)))
}
