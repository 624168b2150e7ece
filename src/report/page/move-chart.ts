import type { MoveCurve, RunReport, WorstMoment } from '../run-report.ts'
import { moneyDecimals, showNumber, showShare, showTime } from '../text/figures.ts'
import { scaleOf, showTick, ticksOf, y } from './chart.ts'
import { type Cell, escapeHtml, renderList, renderTable } from './html.ts'

const LINES = ['none', 'reached'] as const
type Line = (typeof LINES)[number]

const NAMES: Readonly<Record<Line, string>> = {
  none: 'no resting order filled',
  reached: 'those on the way filled',
}
const COLOURS: Readonly<Record<Line, string>> = { none: '--blue', reached: '--orange' }
const HEIGHT_PX = 260

/** The equity against the move of the market, drawn and as a table. */
export function renderWorstMoment({ liquidation, money }: RunReport, coin: string): string {
  const { worstMoment } = liquidation ?? {}
  if (worstMoment === undefined)
    return '<p class="note">Nothing was held, or its figures were not known.</p>'
  const { curve, notCounted } = worstMoment
  const decimals = moneyDecimals(money)
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
  const cellOf = (line: Line, index: number): Cell => {
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
