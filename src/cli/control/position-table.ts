import type { CapitalView, PositionView } from '../../control/views.ts'
import { age, formatTable, money, percent, price } from '../process/table.ts'

export function formatPositions(positions: readonly PositionView[]): string {
  if (positions.length === 0) return 'no position\n'
  const table = formatTable(
    [
      { title: 'position', of: ({ symbol, side }) => `${symbol} ${side}`, isEndKept: true },
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
  const trusts = new Set(positions.map(({ liquidation }) => liquidation?.trust))
  const below = [
    ...(positions.some(isDistanceShown) ? [DISTANCE_LEGEND] : []),
    ...LEGENDS.flatMap(([trust, legend]) => (trusts.has(trust) ? legend : [])),
    ...positions.flatMap(describeMargin),
    ...positions.flatMap(describeKept),
    ...positions.flatMap(describeStops),
    ...new Set(positions.flatMap(describeCapitals)),
  ]
  return below.length === 0 ? table : `${table}\n${below.join('\n')}\n`
}

const NONE = '-'

const DISTANCE_LEGEND = '%  from the mark price to that of the liquidation, in % of the mark price'

function isDistanceShown(view: PositionView): boolean {
  return liquidationPriceOf(view) !== null && typeof view.liquidation?.distance === 'number'
}

const LEGENDS = [
  ['disputed', '?  our figure of the liquidation and the exchange’s differ: the nearer one warns'],
  ['alone', '?  the two figures of the liquidation have differed for long: ours alone counts'],
] as const

const LIQUIDATION = { title: 'liquidation', of: liquidationOf, isNumber: true }

function liquidationOf(view: PositionView): string {
  const { distance = null, trust } = view.liquidation ?? {}
  const at = liquidationPriceOf(view)
  if (at === null) return view.liquidation && distance === null ? 'none' : NONE
  const far = distance === null ? '' : `, ${(distance * 100).toFixed(1)}\u00A0%`
  return `${price(at)}${far}${trust === 'disputed' || trust === 'alone' ? '?' : ''}`
}

function liquidationPriceOf({
  liquidationPrice: stated,
  liquidation,
  markPrice,
}: PositionView): number | null {
  const { ourPrice = null, trust } = liquidation ?? {}
  if (trust === 'alone' || stated === null) return ourPrice
  if (trust !== 'disputed' || ourPrice === null || markPrice === null) return stated
  return Math.abs(ourPrice - markPrice) < Math.abs(stated - markPrice) ? ourPrice : stated
}

function describeCapitals({ capitals = {}, coin }: PositionView): readonly string[] {
  return Object.entries(capitals).map(
    ([strategy, capital]) => `${strategy} ${describeCapital(capital, coin)}`,
  )
}

const RATIO_SHOWN = 0.01

function describeMargin({ symbol, side, liquidation }: PositionView): readonly string[] {
  if (liquidation === null) return []
  const { moves, ratio, statedRatio, ratioTrust } = liquidation
  const needed = ratio ?? statedRatio
  const other = ratioTrust === 'disputed' ? ` (by the exchange ${percent(statedRatio)})` : ''
  const parts = [
    ...(moves === null
      ? []
      : [`its liquidation is ${moves.toFixed(1)} typical moves of an hour away`]),
    ...(needed === null || (needed < RATIO_SHOWN && ratioTrust !== 'disputed')
      ? []
      : [`its maintenance margin ratio is ${percent(needed)}${other}`]),
  ]
  return parts.length === 0 ? [] : [`${symbol} ${side}: ${parts.join('; ')}`]
}

function describeKept({ symbol, side, keptByExchange }: PositionView): readonly string[] {
  if (keptByExchange === null) return []
  const { stopLoss, takeProfit, setBy, moves, isMissing } = keptByExchange
  const stays = `where an order of ${setBy} set it; it does not move`
  const exits = [
    ...(stopLoss === null ? [] : [`a stop-loss at ${stopLoss}`]),
    ...(takeProfit === null ? [] : [`a take-profit at ${takeProfit}`]),
  ]
  return [
    `${symbol} ${side}: the exchange keeps ${exits.join(' and ')}, ${moves ? `and the stop-loss is moved with the exits of ${setBy}` : stays}`,
    ...(isMissing ? [`${symbol} ${side}: the exchange lists no such stop-loss`] : []),
  ]
}

function describeStops({ symbol, side, stops = [] }: PositionView): readonly string[] {
  return [...Map.groupBy(stops, ({ strategy }) => strategy)].map(([strategy, own]) => {
    const levels = own.map((stop) => `${stop.price} (${stop.kind})`).join(', or ')
    return `${symbol} ${side}: ${strategy} closes what it holds at ${levels}`
  })
}

export function describeCapital({ set, max, used }: CapitalView, coin: string): string {
  const [shownUsed, shownMax] = [used, max].map((amount) =>
    amount === null ? 'an unknown amount' : money(String(amount), coin),
  )
  const share = set.endsWith('%') ? ` (${set})` : ''
  return `uses ${shownUsed} of ${shownMax} ${coin}${share}`
}
