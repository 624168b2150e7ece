import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import type { OrderView } from '../../control/views.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { addOperatedOptions } from '../operator/operated-config.ts'
import { showEachAccount } from './each-account.ts'
import { readDaemon, type ShowOptions } from '../operator/find-daemon.ts'
import { formatTable, toPlainWords } from '../process/table.ts'
import { writeOut } from '../../lib/write-out.ts'

interface OrdersOptions extends ShowOptions {
  readonly strategy?: string
  readonly symbol?: string
}

export function addOrdersCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('orders'))
    .description(
      'show orders that have not ended, also unknown ones; `explain CLIENTOID` shows the history of one',
    )
    .option('--strategy <id>', 'only of this strategy')
    .option('--symbol <symbol>', 'only of this instrument')
    .option('--json', 'as JSON')
    .action(async (options: OrdersOptions) => setExit(await showEachAccount(options, showOrders)))
}

async function showOrders(options: OrdersOptions): Promise<number> {
  const found = await readDaemon(options, '/v1/orders', async (account) => {
    const { viewOrders } = await import('../../views/account-view.ts')
    return viewOrders(account)
  })
  if (found.kind === 'nothing') return found.exitCode
  const { strategy, symbol } = options
  const orders = (options.json ? found.answer : found.view).filter(
    (order) =>
      order.strategy === (strategy ?? order.strategy) && order.symbol === (symbol ?? order.symbol),
  )
  writeOut(options.json ? `${JSON.stringify(orders, undefined, 2)}\n` : formatOrders(orders))
  return 0
}

export function formatOrders(orders: readonly OrderView[]): string {
  if (orders.length === 0) return 'no order is open\n'
  return formatTable(
    [
      { title: 'strategy', of: ({ strategy }) => strategy, isElastic: true },
      { title: 'instrument', of: ({ symbol }) => symbol },
      { title: 'side', of: ({ action }) => tradesAs(action) },
      { title: 'price', of: ({ price }) => price ?? 'market', isNumber: true },
      {
        title: 'size',
        of: ({ size, filled }) => (Number(filled) === 0 ? size : `${filled}/${size}`),
        isNumber: true,
      },
      { title: 'state', of: ({ state }) => state },
      { title: 'clientOid', of: ({ clientOid }) => clientOid, isWhole: true },
      ...(orders.some((order) => remarkOf(order) !== '')
        ? [{ title: '', of: remarkOf, isBelow: true }]
        : []),
    ],
    orders.toSorted(byPrice),
  )
}

function remarkOf({ purpose, tag }: OrderView): string {
  const why = PLAIN.has(purpose) ? '' : toPlainWords(purpose)
  return [why, tag === '' ? '' : `as ${tag}`].filter(Boolean).join(', ')
}

const PLAIN: ReadonlySet<string> = new Set(['place', 'quote', 'target'])

function byPrice(one: OrderView, other: OrderView): number {
  return one.symbol.localeCompare(other.symbol) || Number(other.price ?? 0) - Number(one.price ?? 0)
}
