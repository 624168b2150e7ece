import type { DenialCode } from '../../domain/denial.ts'
import type { RecipeDifference } from './recipe-differences.ts'
import type {
  BacktestReport,
  CountedCode,
  PartReport,
  PriceLooks,
  RunReport,
} from '../run-report.ts'
import {
  describeHold,
  describeSteps,
  hasSeeded,
  isPerDay,
  moneyDecimals,
  nameMadeUp,
  showBeside,
  showNumber,
  showShare,
  showTime,
  withSign,
} from './figures.ts'

const BARS = '▁▂▃▄▅▆▇█'
const SPARK_WIDTH = 60
const NAME_WIDTH = 22
const FIGURE_WIDTH = 18

const RUNS_ABREAST = 3

const SHOWN_RATIOS: ReadonlySet<string> = new Set([
  'yearly growth',
  'Sharpe',
  'Sortino',
  'Calmar',
  'deepest drawdown',
  'time under water',
  'positions closed',
  'winners',
  'profit factor',
  'turnover a day',
  'mean exposure',
  'highest margin ratio',
  'nearest to liquidation',
])

/** Lines have at most 80 columns. */
export function describeReport(report: BacktestReport): readonly string[] {
  const { runs, coin, name } = report
  const [first] = runs
  if (first === undefined) return []
  return [
    '',
    `  ${name}: ${showTime(first.fromAt)} to ${showTime(first.toAt)} UTC, ${coin}${first.isCut ? ', ended early' : ''}`,
    ...describePrices(report),
    ...describeEnds(runs.map((run) => ({ name: runs.length > 1 ? `${run.model}: ` : '', run }))),
    '',
    ...describeFigures(runs),
    '',
    ...wrap(`buy and hold: ${describeHold(first.buyAndHold)}`),
    '',
    ...runs.map(({ model, series }) => `  ${model.padEnd(12)} ${sparkline(series.close)}`),
    ...runs.flatMap((run) => describeStrategies(run, runs.length > 1)),
    ...describeNotes(report),
    '',
  ]
}

function describePrices({ coverage }: BacktestReport): readonly string[] {
  const origin = nameMadeUp(coverage)
  if (origin === undefined) return []
  const real = hasSeeded(coverage) ? '--market FILE or SYMBOL=FILE' : 'download from an exchange'
  return wrap(`on ${origin}; real ones: ${real}`)
}

function describeEnds(
  runs: readonly { readonly name: string; readonly run: RunReport }[],
): readonly string[] {
  return runs.flatMap(({ name, run }) => run.restrictions.flatMap((text) => wrap(name + text)))
}

function describeNotes({ runs, remarks, looks }: BacktestReport): readonly string[] {
  const notes = runs.flatMap((run) => {
    const { model, liquidations, denialsByStrategy, rejections, notes: own = [] } = run
    const which = runs.length > 1 ? `${model}: ` : ''
    const denied = Object.entries(denialsByStrategy).flatMap(([id, denials]) =>
      describeDenials(id, denials, looks),
    )
    const liquidated = liquidations === 0 ? [] : [`${liquidations} liquidations`]
    return [
      ...liquidated,
      ...describeSteps(run),
      ...own,
      ...denied,
      ...describeRejections(rejections),
    ].map((note) => which + note)
  })
  const lines = [...notes, ...remarks].flatMap((note) => wrap(`note: ${note}`))
  return lines.length === 0 ? [] : ['', ...lines]
}

export interface ComparedRun {
  readonly place: string
  readonly name: string
  readonly run: RunReport
  readonly madeUp: readonly string[]
}

export function describeComparison(
  named: readonly ComparedRun[],
  differences?: readonly RecipeDifference[],
): readonly string[] {
  const groups = Array.from({ length: Math.ceil(named.length / RUNS_ABREAST) }, (_, index) =>
    named.slice(index * RUNS_ABREAST, (index + 1) * RUNS_ABREAST),
  )
  const isReal = named.every(({ madeUp }) => madeUp.length === 0)
  const isSameTime = new Set(named.map(({ run }) => `${run.fromAt} ${run.toAt}`)).size === 1
  const ends = [
    ...named.flatMap(({ name, madeUp }) => madeUp.flatMap((text) => wrap(`${name}: ${text}`))),
    ...describeEnds(named.map(({ name, run }) => ({ name: `${name}: `, run }))),
  ]
  return [
    ...(ends.length === 0 ? [] : ['', ...ends]),
    ...(differences === undefined ? [] : ['', ...describeDifferences(differences)]),
    ...groups.flatMap((group) => [
      '',
      `  ${''.padEnd(NAME_WIDTH)}${group.map(({ place }) => shorten(place, FIGURE_WIDTH - 1).padStart(FIGURE_WIDTH)).join('')}`,
      ...(isReal ? [] : [describeSources(group)]),
      ...(isSameTime ? [] : describeTimes(group.map(({ run }) => run))),
      ...describeFigures(group.map(({ run }) => run)),
    ]),
    '',
    ...(isSameTime ? [] : ['  equity, each over its own time:']),
    ...named.flatMap(({ name, run }) => [
      `  ${shorten(name, COLUMNS)}`,
      `  ${sparkline(run.series.close)}`,
    ]),
    '',
  ]
}

function describeDifferences(differences: readonly RecipeDifference[]): readonly string[] {
  if (differences.length === 0)
    return wrap('nothing differs: the same program, settings and prices')
  return [
    '  what differs, here of the first and of the second:',
    ...differences.flatMap(({ name, one, other }) => wrap(`${name}: ${one} | ${other}`)),
  ]
}

function describeTimes(runs: readonly RunReport[]): readonly string[] {
  return [
    describeRow('from, UTC', runs, ({ fromAt }) => showTime(fromAt)),
    describeRow('to', runs, ({ toAt }) => showTime(toAt)),
  ]
}

function describeSources(group: readonly ComparedRun[]): string {
  return describeRow('prices', group, ({ madeUp }) => (madeUp.length === 0 ? 'real' : 'made up'))
}

function describeRow<T>(title: string, runs: readonly T[], show: (run: T) => string): string {
  return `  ${title.padEnd(NAME_WIDTH)}${runs.map((run) => show(run).padStart(FIGURE_WIDTH)).join('')}`
}

function describeFigures(runs: readonly RunReport[]): readonly string[] {
  const row = (title: string, show: (run: RunReport) => string): string =>
    describeRow(title, runs, show)
  return [
    row('fill model', ({ model }) => model),
    row('final equity', ({ money }) => showNumber(Number(money.final), moneyDecimals(money))),
    row('total return', ({ money }) => showShare(Number(money.final) / Number(money.opening) - 1)),
    row('buy and hold', ({ buyAndHold }) => showShare(buyAndHold.value)),
    row('realised', ({ money }) => withSign(Number(money.realised), moneyDecimals(money))),
    row('unrealised', ({ money }) => withSign(Number(money.unrealised), moneyDecimals(money))),
    row('fees', ({ money }) => withSign(-Number(money.fees), moneyDecimals(money))),
    row('funding', ({ money }) => withSign(Number(money.funding), moneyDecimals(money))),
    ...(runs.some(({ money }) => Number(money.insurance) !== 0)
      ? [
          row('insurance fund', ({ money }) =>
            withSign(Number(money.insurance), moneyDecimals(money)),
          ),
        ]
      : []),
    ...(runs[0]?.ratios ?? []).flatMap(({ name: ratio }) => {
      const found = runs.map(({ ratios }) => ratios.find(({ name }) => name === ratio))
      const texts = showBeside(found)
      const isDaily = found.every((one) => one !== undefined && isPerDay(one))
      const title = isDaily ? `${ratio}, per day` : ratio
      return SHOWN_RATIOS.has(ratio) ? [row(title, (run) => texts[runs.indexOf(run)] ?? '')] : []
    }),
    row(
      'fills, maker share',
      ({ fills }) => `${fills.count}, ${Math.round(fills.makerShare * 100)} %`,
    ),
    row('denied, rejected', ({ denials, rejections }) => `${sumOf(denials)}, ${sumOf(rejections)}`),
  ]
}

function sparkline(values: readonly (number | null)[], width = SPARK_WIDTH): string {
  const known = values.flatMap((value) => (isKnown(value) ? [value] : []))
  const [first] = known
  if (first === undefined) return ''
  const [low, high] = [Math.min(...known), Math.max(...known)]
  if (high === low) return 'it stood still'
  return Array.from({ length: width }, (_, index) => {
    const end = Math.ceil(((index + 1) * values.length) / width)
    const value = values.slice(0, end).findLast(isKnown) ?? first
    const level = Math.round(((value - low) / (high - low)) * (BARS.length - 1))
    return BARS[level]
  }).join('')
}

function isKnown(value: number | null): value is number {
  return value !== null && Number.isFinite(value)
}

const CELL_WIDTH = 10

function describeStrategies(
  { model, strategies, money }: RunReport,
  isNamed: boolean,
): readonly string[] {
  const header = ['orders', 'fills', 'fees', 'funding', 'profit'].map(toCell).join('')
  return [
    '',
    `  ${(isNamed ? `strategies, ${model}` : 'strategies').padEnd(NAME_WIDTH)}${header}`,
    ...strategies.map(
      (part) =>
        `  ${part.name.slice(0, NAME_WIDTH - 1).padEnd(NAME_WIDTH)}${columnsOf(part, moneyDecimals(money))}`,
    ),
  ]
}

function columnsOf({ orders, fills, fees, funding, profit }: PartReport, decimals: number): string {
  const cells = [
    String(orders),
    String(fills),
    withSign(-fees, decimals),
    withSign(funding, decimals),
    withSign(profit, decimals),
  ]
  return cells.map(toCell).join('')
}

function toCell(text: string): string {
  return ` ${text.padStart(CELL_WIDTH)}`
}

function sumOf(causes: readonly { readonly count: number }[]): number {
  return causes.reduce((sum, { count }) => sum + count, 0)
}

function shorten(name: string, width: number): string {
  if (name.length <= width) return name
  const kept = width - 1
  return `${name.slice(0, Math.ceil(kept / 2))}…${name.slice(-Math.floor(kept / 2))}`
}

const COLUMNS = 78

function wrap(text: string): readonly string[] {
  const lines: string[] = []
  let line = ' '
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > COLUMNS) {
      lines.push(line)
      line = '   '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}

const HINTS: Readonly<Partial<Record<DenialCode, string>>> = {
  PRICE_PRECISION: 'market.ticksBelow(price) and ticksAbove give whole ticks',
  SIZE_PRECISION: 'market.lots(size) gives whole lots',
  SIZE_BELOW_MINIMUM: 'choose a larger size in params',
  NOTIONAL_BELOW_MINIMUM: 'choose a larger size in params',
  INTENT_MALFORMED:
    'a field is wrong, misspelt or no number, as of an indicator before it is warm or a missing price (market.hasPrices): the log of `intentd run` has each with its value (intent.denied)',
  POSITION_LIMIT: 'raise risk.positionMax in the strategy file, or want less',
  POSITION_NOTIONAL_LIMIT: 'raise risk.positionNotionalMax in the strategy file, or want less',
  CAPITAL_LIMIT: 'give the strategy more capital, raise account.leverage, or want less',
  OPEN_ORDERS_LIMIT: 'raise risk.openOrdersMax, or quote fewer levels',
  DATA_STALE: 'prices have gaps, or are read (backtest.pollMs) more seldom than risk.dataAgeMaxMs',
}

const CODES_SHOWN = 3

/** A strategy's code causes these, so that even few must be corrected. */
const FAULTS: ReadonlySet<string> = new Set<DenialCode>([
  ...(['INTENT_MALFORMED', 'INTENTS_TOO_MANY', 'INSTRUMENT_NOT_BOUND', 'KEY_MISSING'] as const),
  ...(['PRICE_PRECISION', 'SIZE_PRECISION', 'PLACES_TOO_MANY'] as const),
])

export function describeDenials(
  strategy: string,
  denials: readonly CountedCode[],
  looks?: PriceLooks,
): readonly string[] {
  const most = mostOf(denials)
  const faults = denials.filter((cause) => FAULTS.has(cause.code) && !most.includes(cause))
  return [...most, ...faults].map(({ code, meaning, count }) => {
    const hint = (code === 'DATA_STALE' && describeLooks(looks)) || HINTS[code as DenialCode]
    return `${strategy}: ${count} denied, ${code} (${meaning})${hint === undefined ? '' : `: ${hint}`}`
  })
}

/** A hint for runs in which every price is too old before the next is read (docs/backtest.md). */
function describeLooks(looks: PriceLooks | undefined): string | undefined {
  if (looks === undefined || looks.everyMs <= looks.dataAgeMaxMs) return undefined
  const { everyMs, dataAgeMaxMs } = looks
  return `normal in this run: prices are read every ${everyMs} ms (backtest.pollMs) and are too old after ${dataAgeMaxMs} ms (risk.dataAgeMaxMs), so what is wanted in between is denied until the next look`
}

const REJECTION_HINTS: Readonly<Record<string, string>> = {
  '43009':
    'the price of the order is too far above the market: a fast move since it was decided, or a wide risk.priceCollarRatio',
  '43039':
    'the price of the order is above what the exchange allows at that moment: mostly the market fell between the decision and the order; a narrower risk.priceCollarRatio or execution.takerCollarRatio denies it before',
  '43008':
    'the price of the order is too far below the market: a fast move since it was decided, or a wide risk.priceCollarRatio',
  '43040':
    'the price of the order is below what the exchange allows at that moment: mostly the market rose between the decision and the order; a narrower risk.priceCollarRatio or execution.takerCollarRatio denies it before',
}

function describeRejections(rejections: readonly CountedCode[]): readonly string[] {
  return mostOf(rejections).map(({ code, meaning, count }) => {
    const hint = REJECTION_HINTS[code]
    return `${count} rejected by the exchange, ${code} (${meaning})${hint === undefined ? '' : `: ${hint}`}`
  })
}

function mostOf(causes: readonly CountedCode[]): readonly CountedCode[] {
  return causes.toSorted((one, other) => other.count - one.count).slice(0, CODES_SHOWN)
}
