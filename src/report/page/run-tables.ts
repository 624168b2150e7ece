import {
  type ClosedTrade,
  EXIT_REASONS,
  type ExitReason,
  type TradeFigures,
} from '../../domain/closed-trade.ts'
import { coinDigits } from '../../domain/coin-amount.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import type { CountedCode, MoveCurve, PartReport, RunReport, WorstMoment } from '../run-report.ts'
import {
  describeSteps,
  moneyDecimals,
  showNumber,
  showRatio,
  showShare,
  showTime,
  withSign,
} from '../text/figures.ts'
import { scaleOf, showTick, ticksOf, y } from './chart.ts'
import { type Cell, escapeHtml, renderList, renderSection, renderTable, toned } from './html.ts'
import { renderRolling } from './run-charts.ts'

export function renderRunTables(run: RunReport, index: number, coin: string): string {
  return [
    renderSection('Where the money came from', renderMoney(run, coin)),
    renderSection('Strategies and instruments', renderParts(run), TWO_AVERAGES),
    renderTrades(run),
    renderSection('Ratios', `<div class="formula">${renderRatios(run)}</div>`),
    renderSection(
      'Returns by month, day and hour',
      renderCalendar(run) + renderRolling(run, index),
      'Equity marked to market, days and hours UTC.',
    ),
    renderSection('Worst drawdowns', renderDrawdowns(run)),
    renderSection('Nearest to a liquidation', renderNearest(run)),
    renderSection(
      'The worst moment',
      renderWorstMoment(run, coin),
      'When a move of the market would have hurt the account most, and what each move would have left of it then.',
    ),
    renderSection('Fills, limits and refusals', renderTrade(run)),
  ].join('')
}

const TWO_AVERAGES =
  'A strategy realises at the average price of its own fills. The account realises at that of its whole position, which strategies on one instrument share, so the sum here may differ from the realised profit above; with unrealised profit both come to the same.'

function money(text: string, decimals: number): Cell {
  return toned(Number(text), withSign(Number(text), decimals))
}

function renderMoney(
  { money: sums, openPositions, liquidations, notes = [] }: RunReport,
  coin: string,
): string {
  const decimals = moneyDecimals(sums)
  const rows: (readonly Cell[])[] = [
    ['opening balance', { text: showNumber(Number(sums.opening), decimals) }],
    [
      'realised profit, at the average price of the position of the account',
      money(sums.realised, decimals),
    ],
    ['unrealised profit, at the mark price', money(sums.unrealised, decimals)],
    ['fees', money(String(-Number(sums.fees)), decimals)],
    ['funding', money(sums.funding, decimals)],
    ...(Number(sums.insurance) === 0
      ? []
      : [['paid by the insurance fund', money(sums.insurance, decimals)]]),
    ['final equity', { text: showNumber(Number(sums.final), decimals) }],
  ]
  const facts = [
    ...(liquidations > 0 ? [`${liquidations} liquidations`] : []),
    ...openPositions.map((position) => `held at the end: ${position}`),
    ...notes,
  ]
  const list = facts.length === 0 ? '' : `<h3>At the end</h3>${renderList(facts)}`
  return `${renderTable(['', coin], rows)}${list}`
}

const PART_COLUMNS = [
  'orders',
  'fills',
  'maker',
  'traded',
  'realised, at own average',
  'unrealised, at own average',
  'fees',
  'funding',
  'profit',
  'denied',
  'rejected',
]

function renderParts({ strategies, instruments, money: sums }: RunReport): string {
  const decimals = moneyDecimals(sums)
  const toRow = (part: PartReport): readonly Cell[] => toPartRow(part, decimals)
  return (
    renderTable(['strategy', ...PART_COLUMNS], strategies.map(toRow)) +
    renderTable(['instrument', ...PART_COLUMNS], instruments.map(toRow))
  )
}

function toPartRow(part: PartReport, decimals: number): readonly Cell[] {
  return [
    part.name,
    String(part.orders),
    String(part.fills),
    showShareOf(part.makerShare),
    showNumber(part.traded, decimals === 2 ? 0 : decimals),
    toned(part.realised, withSign(part.realised, decimals)),
    toned(part.unrealised, withSign(part.unrealised, decimals)),
    withSign(-part.fees, decimals),
    toned(part.funding, withSign(part.funding, decimals)),
    toned(part.profit, withSign(part.profit, decimals)),
    String(part.denied),
    String(part.rejected),
  ]
}

function showShareOf(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

function renderRatios({ ratios, money: sums }: RunReport): string {
  const decimals = moneyDecimals(sums)
  const rows = ratios.map((ratio) => [
    ratio.name,
    { text: showRatio(ratio, decimals) },
    ratio.note === undefined ? ratio.formula : `${ratio.formula} (${ratio.note})`,
  ])
  return renderTable(['', 'value', 'formula'], rows, [0, 2])
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function renderCalendar({
  monthlyReturns,
  profitByHour,
  profitByWeekday,
  money: sums,
}: RunReport): string {
  const decimals = moneyDecimals(sums)
  const weekdays = [...profitByWeekday.slice(1), profitByWeekday[0] ?? 0]
  const hours = profitByHour.map((_, hour) => String(hour))
  return `${renderMonths(monthlyReturns)}<div class="pair"><div><h3>Profit by day of the week</h3>${renderBars(weekdays, [...WEEKDAYS.slice(1), 'Sun'], decimals)}</div>
<div><h3>Profit by hour</h3>${renderBars(profitByHour, hours, decimals)}</div></div>`
}

function renderMonths(months: RunReport['monthlyReturns']): string {
  const strongest = Math.max(0.0001, ...months.map(({ value }) => Math.abs(value)))
  const years = [...new Set(months.map(({ month }) => month.slice(0, 4)))]
  const ofYear = months.map(({ month }) => Number(month.slice(5)) - 1)
  const [first, last] = years.length > 1 ? [0, 11] : [Math.min(...ofYear), Math.max(...ofYear)]
  const shown = MONTHS.flatMap((name, index) =>
    index >= first && index <= last ? [{ name, index }] : [],
  )
  const cell = (year: string, index: number): string => {
    const found = months.find(
      ({ month }) => month === `${year}-${String(index + 1).padStart(2, '0')}`,
    )
    if (found === undefined) return '<td></td>'
    const tint = found.value >= 0 ? '--heat-good' : '--heat-bad'
    const strength = (0.12 + (0.5 * Math.abs(found.value)) / strongest).toFixed(2)
    return `<td style="--tint:var(${tint});--strength:${strength}">${showShare(found.value)}</td>`
  }
  const rows = years.map(
    (year) =>
      `<tr><td class="text">${year}</td>${shown.map(({ index }) => cell(year, index)).join('')}</tr>`,
  )
  const head = `<th></th>${shown.map(({ name }) => `<th>${name}</th>`).join('')}`
  return `<div class="scroll heat"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function renderBars(values: readonly number[], names: readonly string[], decimals: number): string {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const span = high - low || 1
  const zero = (high / span) * 100
  const bars = values.map((value, index) => {
    const size = (Math.abs(value) / span) * 100
    const top = value >= 0 ? zero - size : zero
    const says = `${names[index] ?? ''}: ${withSign(value, decimals)}`
    return `<div title="${escapeHtml(says)}"><i${value < 0 ? ' class="down"' : ''} style="top:${top.toFixed(2)}%;height:${size.toFixed(2)}%"></i></div>`
  })
  return `<div class="bars">${bars.join('')}</div><div class="bar-names">${names.map((name) => `<span>${name}</span>`).join('')}</div>`
}

function renderDrawdowns({ drawdowns, toAt, money: sums }: RunReport): string {
  if (drawdowns.length === 0) return '<p>None: the equity never fell below an earlier value.</p>'
  const rows = drawdowns.map(({ depth, amount, peakAt, troughAt, recoveredAt }) => [
    showTime(peakAt),
    toned(-1, showShare(-depth)),
    { text: showNumber(amount, moneyDecimals(sums)) },
    { text: showTime(troughAt) },
    { text: recoveredAt === undefined ? 'not over' : showTime(recoveredAt) },
    { text: showDuration((recoveredAt ?? toAt) - peakAt) },
  ])
  return renderTable(
    ['peak (UTC)', 'depth', 'amount', 'lowest', 'peak reached again', 'length'],
    rows,
  )
}

function renderNearest(run: RunReport): string {
  const { nearest = [] } = run.liquidation ?? {}
  if (nearest.length === 0)
    return '<p class="note">Nothing was held, or its distance was not known.</p>'
  const rows = nearest.map(({ symbol, holdSide, distance, at }) => [
    symbol,
    holdSide,
    { text: `${showNumber(distance * 100)} %` },
    { text: showTime(at) },
  ])
  const steps = describeSteps(run)
  const list = steps.length === 0 ? '' : `<h3>Steps before it</h3>${renderList(steps)}`
  return renderTable(['instrument', 'side', 'distance', 'at (UTC)'], rows, [0, 1]) + list
}

function renderTrade(run: RunReport): string {
  const { fills, limiter, orders } = run
  const quality: (readonly Cell[])[] = [
    ['fills', { text: String(fills.count) }, ''],
    ['maker share, by value', { text: showShareOf(fills.makerShare) }, ''],
    [
      'slippage',
      { text: `${showNumber(fills.slippageBps)} bps` },
      `${withSign(fills.slippageCost)}: fills that took, against the best price that stood when the order came`,
    ],
    [
      'lateness',
      { text: `${showNumber(fills.latenessBps)} bps` },
      `${withSign(fills.latenessCost)}: the same fills, how far the middle had moved against them since the order was made`,
    ],
  ]
  const limits = limiter.map((use) => [
    use.endpoint,
    String(use.made),
    use.limit,
    showShareOf(use.usedShare),
    String(use.windowMax),
    showNumber(use.waitedMsP50, 0),
    showNumber(use.waitedMsP99, 0),
    String(use.rateLimited),
  ])
  const quantity = Object.entries(orders).map(([status, count]) => [
    status.toLowerCase(),
    String(count),
  ])
  return [
    `<h3>Fill quality</h3>${renderTable(['', 'value', 'cost'], quality, [0, 2])}`,
    `<div class="pair"><div><h3>Orders by how they ended</h3>${renderTable(['', 'orders'], quantity)}</div>`,
    `<div><h3>Denied by us</h3>${renderCauses(run.denials)}<h3>Rejected by the exchange</h3>${renderCauses(run.rejections)}</div></div>`,
    `<h3>Rate limits</h3>${renderTable(['call', 'made', 'limit', 'used', 'most in a window', 'waited ms, median', '99 of 100', 'answers 429'], limits)}`,
  ].join('')
}

function renderCauses(causes: readonly CountedCode[]): string {
  if (causes.length === 0) return '<p class="note">None.</p>'
  const rows = causes.map(({ code, meaning, count }) => [`${code}: ${meaning}`, String(count)])
  return renderTable(['', 'orders'], rows)
}

const LINES = ['none', 'reached'] as const
type CurveLine = (typeof LINES)[number]

const NAMES: Readonly<Record<CurveLine, string>> = {
  none: 'no resting order filled',
  reached: 'those on the way filled',
}
const COLOURS: Readonly<Record<CurveLine, string>> = { none: '--blue', reached: '--orange' }
const HEIGHT_PX = 260

function renderWorstMoment({ liquidation, money: sums }: RunReport, coin: string): string {
  const { worstMoment } = liquidation ?? {}
  if (worstMoment === undefined)
    return '<p class="note">Nothing was held, or its figures were not known.</p>'
  const { curve, notCounted } = worstMoment
  const decimals = moneyDecimals(sums)
  const unknown = notCounted.length === 0 ? '' : `<h3>Not counted</h3>${renderList(notCounted)}`
  return [
    `<p>${escapeHtml(describeMoment(worstMoment, coin, decimals))}</p>`,
    renderHeld(worstMoment, decimals),
    drawCurve(curve, coin),
    unknown,
    `<details><summary>The same figures as a table</summary>${renderMoves(curve, decimals)}</details>`,
  ].join('')
}

function describeMoment(
  { at, measure, figure, subject, equity }: WorstMoment,
  coin: string,
  decimals: number,
): string {
  const share = `${showNumber(figure * 100)} %`
  const why =
    measure === 'worstCase'
      ? `${subject} would have taken ${share} of the equity, with all that rested filled`
      : `the position ${subject} was ${share} from its liquidation`
  return `${showTime(at)} UTC: ${why}. The equity was ${showNumber(equity, decimals)} ${coin}.`
}

function renderHeld({ held }: WorstMoment, decimals: number): string {
  const rows = held.map(({ symbol, holdSide, size, entryPrice, price, resting }) => [
    symbol,
    holdSide,
    { text: String(Number(size.toPrecision(DIGITS))) },
    { text: showNumber(entryPrice, decimals) },
    { text: showNumber(price, decimals) },
    { text: String(resting) },
  ])
  const columns = ['held', 'side', 'size', 'entry price', 'price', 'resting orders']
  return renderTable(columns, rows, [0, 1])
}

const DIGITS = 10

function drawCurve(curve: MoveCurve, coin: string): string {
  const { moves } = curve
  const values = LINES.flatMap((line) => curve[line]).filter((value) => value !== null)
  const [from, to] = [moves[0] ?? 0, moves.at(-1) ?? 0]
  if (values.length < 2) return '<p class="note">The equity was not known: nothing is drawn.</p>'
  const scale = scaleOf([{ kind: 'line', values }])
  const ticks = ticksOf(scale)
  const x = (move: number): string => (((move - from) / (to - from)) * 100).toFixed(2)
  const grid = [
    ...ticks.map((tick) => `<line x1="0" x2="100" y1="${y(tick, scale)}" y2="${y(tick, scale)}"/>`),
    `<line x1="${x(0)}" x2="${x(0)}" y1="0" y2="100"/>`,
  ]
  const zones = LINES.flatMap((line) => curve.liquidations[line])
    .filter((move) => move >= from && move <= to)
    .map((move) => {
      const end = move < 0 ? 0 : 100
      return `<path class="band" style="--c:var(--red)" d="M${x(move)} 0V100H${end}V0Z"/>`
    })
  const lines = LINES.toReversed().map((line) => {
    const points = moves.flatMap((move, index) => {
      const equity = curve[line][index] ?? null
      return equity === null ? [] : [`${x(move)} ${y(equity, scale)}`]
    })
    return `<path class="line" style="--c:var(${COLOURS[line]})" d="M${points.join('L')}"/>`
  })
  const labels = ticks.map(
    (tick) =>
      `<span class="y" style="top:${y(tick, scale)}%">${showTick(tick, { unit: 'money', ticks })}</span>`,
  )
  const marks = [from, from / 2, 0, to / 2, to].map(
    (move) => `<span style="left:${x(move)}%">${showShare(move, 0)}</span>`,
  )
  const legend = LINES.map(
    (line) =>
      `<span class="key"><i class="line" style="--c:var(${COLOURS[line]})"></i>${NAMES[line]}</span>`,
  )
  const title = `Equity in ${escapeHtml(coin)} if every price had moved at once`
  return `<figure style="margin:14px 0"><figcaption><strong>${title}</strong>${legend.join('')}</figcaption>
<div class="frame"><div class="plot" style="height:${HEIGHT_PX}px"><svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="${title}; the table below has the same figures"><g class="grid">${grid.join('')}</g>${zones.join('')}${lines.join('')}</svg></div>${labels.join('')}</div><div class="xs ends">${marks.join('')}</div></figure>
<p class="note">${describeEnds(curve)}</p>`
}

const FUNDING_NOTE = 'The next funding payment is taken off, where the account pays it.'

function describeEnds({ moves, liquidations }: MoveCurve): string {
  const [from, to] = [moves[0] ?? 0, moves.at(-1) ?? 0]
  const ends = LINES.flatMap((line) => {
    const shown = liquidations[line].filter((move) => move >= from && move <= to)
    return shown.length === 0
      ? []
      : [`with ${NAMES[line]} at ${shown.map((move) => showShare(move)).join(' and ')}`]
  })
  if (ends.length === 0)
    return `${FUNDING_NOTE} No move within this range would have liquidated anything.`
  return `${FUNDING_NOTE} Red: the exchange would have liquidated, ${ends.join('; ')}; the lines go on as if it had not.`
}

function renderMoves(curve: MoveCurve, decimals: number): string {
  const cellOf = (line: CurveLine, index: number): Cell => {
    const move = curve.moves[index] ?? 0
    const isLiquidated = curve.liquidations[line].some((end) =>
      end < 0 ? move <= end : move >= end,
    )
    const equity = showNumber(curve[line][index] ?? Number.NaN, decimals)
    return isLiquidated ? { text: `${equity}, liquidated`, tone: 'bad' } : { text: equity }
  }
  const rows = curve.moves.map((move, index) => [
    showShare(move, 0),
    ...LINES.map((line) => cellOf(line, index)),
  ])
  return renderTable(['every price', ...LINES.map((line) => NAMES[line])], rows)
}

export function renderTrades({ trades }: RunReport): string {
  if (trades === undefined) return ''
  const { count, last, reasons, tags = [] } = trades
  if (count === 0) return renderSection('Closed trades', '<p class="note">No trade was closed.</p>')
  const isCut = last.length < count
  const shown = isCut ? `the last ${last.length} of ${count}` : `all ${count}`
  const byTag =
    tags.length === 0
      ? ''
      : `<h3>By what they were entered as</h3>${renderSums(tags, ({ tag }) => tag || 'no tag')}`
  return renderSection(
    'Closed trades',
    `<h3>By what ended them</h3>${renderSums(reasons, ({ reason }) => nameReason(reason))}${byTag}<h3>In order of time, ${shown}</h3>${renderLast(last)}`,
    'A trade is that of one strategy on one side of one instrument, from flat to flat, as the daemon booked it. Net is after fees and funding, so winners and profit factor can differ from the ratios, which do not count funding; of its size is net over the largest size at the mean entry price.',
  )
}

/** A backtest has no older journal. */
function nameReason(reason: ExitReason): string {
  return reason === 'order' ? 'an order of the strategy' : EXIT_REASONS[reason]
}

function renderSums<Sums extends TradeFigures>(
  sums: readonly Sums[],
  nameOf: (one: Sums) => string,
): string {
  const rows = sums.map((one) => {
    const { coin, trades, wins, gains, losses, heldMs } = one
    const decimals = coinDigits(coin)
    return [
      nameOf(one),
      String(trades),
      `${((wins / trades) * 100).toFixed(2)} %`,
      toned(gains - losses, withSign(gains - losses, decimals)),
      toned(gains - losses, withSign((gains - losses) / trades, decimals)),
      losses === 0 ? 'none lost' : showNumber(gains / losses),
      showDuration(heldMs / trades),
    ]
  })
  return renderTable(
    ['', 'trades', 'winners', 'net', 'mean', 'profit factor', 'mean time held'],
    rows,
  )
}

function renderLast(trades: readonly ClosedTrade[]): string {
  const rows = trades.map((trade): readonly Cell[] => {
    const { side, coin, size, entryPrice, exitPrice, share, fills, openedAt } = trade
    const decimals = coinDigits(coin)
    const net = Number(trade.net)
    return [
      showTime(trade.closedAt),
      trade.strategyId,
      trade.symbol,
      side,
      { text: size },
      { text: entryPrice ?? 'not known' },
      { text: exitPrice ?? 'not known' },
      { text: withSign(Number(trade.gross), decimals) },
      { text: withSign(-Number(trade.fees), decimals) },
      { text: withSign(Number(trade.funding), decimals) },
      toned(net, withSign(net, decimals)),
      { text: share === null ? 'not known' : showShare(share) },
      { text: showDuration(trade.closedAt - openedAt) },
      { text: String(fills) },
      [trade.reason, trade.exitTag ?? ''].filter(Boolean).join(', as '),
      trade.entryTag ?? '',
    ]
  })
  const columns = ['closed (UTC)', 'strategy', 'instrument', 'side', 'size', 'entry', 'exit']
  const sums = [
    'gross',
    'fees',
    'funding',
    'net',
    'of its size',
    'held',
    'fills',
    'ended by',
    'entered as',
  ]
  return renderTable([...columns, ...sums], rows, [0, 1, 2, 3, 14, 15])
}
