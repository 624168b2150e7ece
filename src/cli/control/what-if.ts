import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import {
  MOVE_MAX,
  MOVE_MIN,
  MOVE_USUAL,
  type WhatIfQuery,
  type WhatIfView,
} from '../../control/what-if-view.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { showTime } from '../../report/text/figures.ts'
import { wrapWords } from '../../lib/text/wrap-words.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { listOption } from '../process/options.ts'
import { writeOut } from '../../lib/write-out.ts'
import { showEachAccount } from './each-account.ts'
import { readDaemon, type ShowOptions } from '../operator/find-daemon.ts'
import { COLUMNS, formatTable, percent, price } from '../process/table.ts'

interface WhatIfOptions extends ShowOptions {
  readonly move: readonly string[]
  readonly fillAll?: boolean
}

export function addWhatIfCommand(program: Command, { setExit }: VerbFrame): void {
  const command = addOperatedOptions(program.command('whatif'))
  command
    .description(
      'show what would be held, worth and left if the market moved: without --move a row for each of several moves, and -10 % in detail',
    )
    .addOption(
      listOption('--move <share>', 'by how much: -10% of every price, or BTCUSDT=-20% of one'),
    )
    .option(
      '--fill-all',
      'as if all resting orders were filled, and not only those that the move comes to',
    )
    .option('--json', 'as JSON')
    .action(async (options: WhatIfOptions) => {
      const query = readQuery(options)
      if (typeof query === 'string') command.error(`error: option '--move <share>': ${query}`)
      else setExit(await showEachAccount(options, (own) => showWhatIf(own, query)))
    })
}

const SHARE = /^(?:([^=]+)=)?([+-]?\d+(?:\.\d+)?)\s?%$/

function readQuery({ move: texts, fillAll, ...options }: WhatIfOptions): WhatIfQuery | string {
  const moves = new Map<string, number>()
  let all = texts.length === 0 ? MOVE_USUAL : 0
  for (const text of texts) {
    const [, symbol, digits = ''] = SHARE.exec(text) ?? []
    const share = Number(digits) / 100
    if (digits === '' || share < MOVE_MIN || share > MOVE_MAX)
      return `'${text}': write a move such as -10% or BTCUSDT=-20%, from -99% to 1000%`
    if (symbol === undefined) all = share
    else moves.set(symbol, share)
  }
  if (moves.size > 0) {
    const known = Object.keys(loadOperated(options).instruments)
    const stranger = [...moves.keys()].find((symbol) => !known.includes(symbol))
    if (stranger !== undefined)
      return `${stranger} is not an instrument of this configuration${didYouMeanEnd(stranger, known)}; it has ${known.join(', ')}`
  }
  return { move: all, moves, fill: fillAll === true ? 'all' : 'reached' }
}

async function showWhatIf(options: WhatIfOptions, query: WhatIfQuery): Promise<number> {
  const moves = [...query.moves].map(([symbol, share]) => `${symbol}:${share}`).join(',')
  const search = new URLSearchParams({ move: String(query.move), moves, fill: query.fill })
  const found = await readDaemon<readonly WhatIfView[]>(
    options,
    `/v1/whatif?${search.toString()}`,
    async (account) => {
      const { viewWhatIf } = await import('../../views/what-if.ts')
      return [await viewWhatIf(account, query, () => Promise.resolve())]
    },
  )
  if (found.kind === 'nothing') return found.exitCode
  if (options.json) writeOut(`${JSON.stringify(found.answer, undefined, 2)}\n`)
  else writeOut(found.view.map((view) => formatWhatIf(view, options.move.length === 0)).join('\n'))
  return 0
}

export function formatWhatIf(view: WhatIfView, hasRows: boolean): string {
  const oldest = Math.min(...Object.values(view.prices).map(({ at }) => at))
  const from = Number.isFinite(oldest) ? `, at prices of ${showTime(oldest)} UTC` : ''
  const { notCounted } = view
  if (Object.keys(view.prices).length === 0 && notCounted.length === 0)
    return `equity ${inCoin(view, view.equity)}; nothing is held and nothing rests: no move changes it\n`
  return [
    `equity ${inCoin(view, view.equity)}${from}\n`,
    ...(hasRows ? ['\n', formatRows(view)] : []),
    '\n',
    formatScenario(view),
    ...notCounted.flatMap((text) => wrap(`! not counted: ${text}`)),
  ].join('')
}

function formatRows(view: WhatIfView): string {
  return formatTable(
    [
      { title: 'move', of: ({ move }) => percent(move), isNumber: true },
      { title: 'equity', of: ({ equity }) => amount(view, equity), isNumber: true },
      { title: 'change', of: ({ change }) => amount(view, change), isNumber: true },
      { title: 'needed', of: ({ need }) => amount(view, need), isNumber: true },
      { title: 'free', of: ({ free }) => amount(view, free), isNumber: true },
      { title: 'margin ratio', of: ({ marginRatio }) => percent(marginRatio), isNumber: true },
      { title: '', of: ({ isLiquidated }) => (isLiquidated ? 'liquidated' : '') },
    ],
    view.rows,
  )
}

function formatScenario(view: WhatIfView): string {
  const { scenario } = view
  const { positions, filled, fill, fees, realised, funding, liquidation, isLiquidated } = scenario
  const which =
    fill === 'all' ? 'all resting orders filled' : 'the resting orders on the way filled'
  const ending = isLiquidated
    ? 'LIQUIDATED ON THE WAY'
    : `maintenance margin ratio ${percent(scenario.marginRatio)}`
  return [
    ...wrap(`if ${describeMoves(scenario.moves)}, ${which} (${filled}):`),
    positions.length === 0 ? 'nothing is held\n' : formatHeld(view),
    ...wrap(
      `equity ${inCoin(view, scenario.equity)} (${amount(view, scenario.change)}; fees ${amount(view, fees)}, realised ${amount(view, realised)}, next funding ${amount(view, funding)}), needed ${amount(view, scenario.need)}, free ${amount(view, scenario.free)}, ${ending}`,
    ),
    ...wrap(
      liquidation === null
        ? scenario.need === null || scenario.equity === null
          ? 'where a liquidation is on this way is not known'
          : 'no liquidation on this way, however far it goes'
        : `first liquidation on this way: ${describeMoves(liquidation.moves)} (${describePrices(liquidation.prices)})`,
    ),
  ].join('')
}

function formatHeld(view: WhatIfView): string {
  return formatTable(
    [
      { title: 'position', of: ({ symbol, side }) => `${symbol} ${side}` },
      { title: 'size', of: ({ size }) => String(size), isNumber: true },
      { title: 'entry', of: ({ entryPrice }) => price(entryPrice), isNumber: true },
      { title: 'price', of: (row) => price(row.price), isNumber: true },
      { title: 'worth', of: ({ worth }) => amount(view, worth), isNumber: true },
      { title: 'profit', of: ({ profit }) => amount(view, profit), isNumber: true },
      { title: 'needed', of: ({ need }) => amount(view, need), isNumber: true },
    ],
    view.scenario.positions,
  )
}

function describeMoves(moves: Readonly<Record<string, number>>): string {
  const entries = Object.entries(moves)
  const [first = 0] = Object.values(moves)
  if (entries.every(([, move]) => move === first)) return `every price moves by ${percent(first)}`
  const moved = entries.filter(([, move]) => move !== 0)
  return moved.map(([symbol, move]) => `${symbol} moves by ${percent(move)}`).join(', ')
}

function describePrices(prices: Readonly<Record<string, number>>): string {
  return Object.entries(prices)
    .map(([symbol, at]) => `${symbol} ${price(at)}`)
    .join(', ')
}

function wrap(text: string): readonly string[] {
  return wrapWords(text, COLUMNS).map((line) => `${line}\n`)
}

function amount({ coin }: Pick<WhatIfView, 'coin'>, text: string | null): string {
  if (text === null) return '-'
  const digits = coin.includes('USD') ? 2 : 8
  const value = Number(Number(text).toFixed(digits)) || 0
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

function inCoin(view: Pick<WhatIfView, 'coin'>, text: string | null): string {
  return text === null ? 'not known' : `${amount(view, text)} ${view.coin}`
}
