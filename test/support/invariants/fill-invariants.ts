import { type Fill, fillKey, type FillKind } from '../../../src/domain/fill.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { decimal, sumDecimals, ZERO } from '../../../src/lib/decimal.ts'
import { FEE_COIN_PRICES } from '../months/broken-fills.ts'
import { fillKeyOf, type TrueFill } from '../virtual/exchange-truth.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/** Substitutes for impossible values are this near to the truth, as a share. */
const NEAR = 0.03

/** Meaning of the exchange's own words for its closes. */
const KINDS: readonly (readonly [word: RegExp, kind: FillKind, event: string])[] = [
  [/^burst_/, 'liquidation', 'fill.liquidated'],
  [/^reduce_/, 'partialLiquidation', 'fill.liquidated'],
  [/^offset_/, 'netting', 'fill.liquidated'],
  [/^delivery_/, 'delivery', 'fill.delivered'],
  [/^dte_sys_adl_/, 'autoDeleveraging', 'fill.deleveraged'],
  [/^melt_/, 'system', 'fill.foreign'],
]

/** The rows of a fill misstate its booked money. */
export function hidesMoney({ exchange }: World, fill: TrueFill): boolean {
  if (exchange.misstatedOf(fillKeyOf(fill)) !== undefined) return true
  const shown = exchange.brokenFills.shownMoney(fillKeyOf(fill))
  return shown !== undefined && (shown.fee !== 'booked' || shown.isProfitMissing)
}

export function recordedFills({ process, exchange }: World): ReadonlyMap<TrueFill, Fill> {
  const found = new Map<TrueFill, Fill>()
  for (const record of process.journal.loadAll()) {
    if (record.kind !== 'fills') continue
    for (const fill of record.fills) {
      const theirs = trueFill(exchange, fill)
      if (theirs) found.set(theirs, fill)
    }
  }
  return found
}

function trueFill({ truth }: World['exchange'], fill: Fill): TrueFill | undefined {
  const key = fillKey(fill)
  return truth.fillsInOrder.find((one) => fillKeyOf(one) === key)
}

/**
 * MON2: each fill has the money of its rows, by coin; missing money is unknown or our own count,
 * never zero, and reported. Closes of the exchange have its name, and are reported under it.
 */
export function watchFills(world: World): WorldWatcher {
  return {
    afterStep(_event, effects) {
      for (const effect of effects) {
        if (effect.kind !== 'record' || effect.record.kind !== 'fills') continue
        for (const fill of effect.record.fills) checkFill(world, fill, effects)
      }
    },
    atEnd() {
      const { book } = world.process.engine ?? {}
      if (!book || world.violations.length > 0) return
      for (const coin of ['POINT', 'TOKEN']) {
        const paid = [...recordedFills(world).keys()].map((fill) => shownFee(world, fill, coin))
        const counted = [...book.money.values()].map((money) =>
          decimal(money.otherFees?.[coin]?.paid ?? '0'),
        )
        const waiting = [...book.orphans.values()].flat().flatMap(({ otherFees = [] }) => otherFees)
        const ours = sumDecimals([
          ...counted,
          ...waiting.filter((fee) => fee.coin === coin).map(({ amount }) => decimal(amount)),
        ])
        if (!ours.eq(sumDecimals(paid)))
          violate(
            world,
            'MON2',
            `fees in ${coin}: ${ours.toString()} of ${sumDecimals(paid).toString()}`,
          )
      }
    },
  }
}

function shownFee({ exchange }: World, fill: TrueFill, coin: string) {
  const shown = exchange.brokenFills.shownMoney(fillKeyOf(fill))?.fee
  return typeof shown === 'object' && shown.coin === coin ? decimal(shown.amount) : ZERO
}

function checkFill(world: World, fill: Fill, effects: readonly Effect[]): void {
  const theirs = trueFill(world.exchange, fill)
  if (!theirs) return
  checkMoney(world, { ours: fill, theirs }, effects)
  const [, kind, event] = KINDS.find(([word]) => word.test(theirs.tradeSide)) ?? []
  if (kind === undefined) return
  if (fill.fillKind !== kind)
    violate(world, 'MON2', `${theirs.tradeSide} is called ${fill.fillKind}`)
  const isSaid = effects.some(
    (effect) =>
      effect.kind === 'announce' &&
      effect.event === event &&
      JSON.stringify(effect.fields).includes(`"${fill.tradeId}"`),
  )
  if (!isSaid)
    violate(world, 'MON2', `${theirs.tradeSide} ${fill.tradeId} was not said as ${event}`)
}

function checkMoney(
  world: World,
  { ours, theirs }: { readonly ours: Fill; readonly theirs: TrueFill },
  effects: readonly Effect[],
): void {
  const misstated = world.exchange.misstatedOf(fillKey(ours))
  if (misstated !== undefined) return checkMisstated(world, misstated, { ours, theirs }, effects)
  if (ours.ticks !== theirs.priceTicks)
    violate(
      world,
      'MON1',
      `${ours.tradeId} is booked at ${ours.ticks}, and was filled at ${theirs.priceTicks}`,
    )
  const shown = world.exchange.brokenFills.shownMoney(fillKey(ours))
  const fee = shown?.fee ?? 'booked'
  const other = typeof fee === 'object' ? fee : undefined
  const price = other && FEE_COIN_PRICES.get(other.coin)
  const expected = {
    fee: fee === 'missing' ? undefined : other ? '0' : theirs.fee,
    otherFees: other && [
      { ...other, amount: decimal(other.amount).toString(), ...(price && { price }) },
    ],
  }
  if (
    !isSame(ours.fee, expected.fee) ||
    JSON.stringify(ours.otherFees) !== JSON.stringify(expected.otherFees)
  )
    violate(
      world,
      'MON2',
      `the fee of ${ours.tradeId} is ${describe(ours)}, shown was ${JSON.stringify(shown)}`,
    )
  const isZeroed = shown?.isProfitMissing && ours.profit !== undefined && Number(ours.profit) === 0
  if (isZeroed && Math.abs(Number(theirs.profit)) > 1e-6)
    violate(
      world,
      'MON2',
      `the profit of ${ours.tradeId} was not shown, counts as zero, and was ${theirs.profit}`,
    )
  if (!shown?.isProfitMissing && !isSame(ours.profit, theirs.profit))
    violate(
      world,
      'MON2',
      `the profit of ${ours.tradeId} is ${ours.profit}, and was ${theirs.profit}`,
    )
  const isSaid = effects.some(
    (effect) =>
      effect.kind === 'announce' &&
      effect.event === 'fill.incomplete' &&
      effect.fields['tradeId'] === ours.tradeId,
  )
  if ((ours.fee === undefined || ours.profit === undefined) && !isSaid)
    violate(world, 'MON2', `${ours.tradeId} is not complete, and that was not said`)
}

/** Impossible values are not booked but reported, and their substitute is near the truth (MON1). */
function checkMisstated(
  world: World,
  misstated: 'price' | 'profit' | 'fee',
  { ours, theirs }: { readonly ours: Fill; readonly theirs: TrueFill },
  effects: readonly Effect[],
): void {
  const { lot, tick } = world.settings.instruments.get(ours.symbol) ?? {}
  if (lot === undefined || tick === undefined) return
  const notional = floatOnGrid(tick, theirs.priceTicks) * floatOnGrid(lot, theirs.lots)
  const isNear = {
    price: Math.abs(ours.ticks - theirs.priceTicks) <= NEAR * theirs.priceTicks,
    profit:
      ours.profit !== undefined &&
      Math.abs(Number(ours.profit) - Number(theirs.profit)) <= NEAR * notional,
    fee: ours.fee === undefined,
  }[misstated]
  const isSaid = effects.some(
    (effect) =>
      effect.kind === 'announce' &&
      effect.event === 'fill.incredible' &&
      effect.fields['tradeId'] === ours.tradeId,
  )
  if (!isNear || !isSaid)
    violate(
      world,
      'MON1',
      `a wrong ${misstated} of ${ours.tradeId} was ${isNear ? 'not said' : 'booked'}`,
    )
}

function isSame(ours: string | undefined, theirs: string | undefined): boolean {
  if (ours === undefined || theirs === undefined) return ours === theirs
  return decimal(ours).eq(decimal(theirs))
}

function describe({ fee, otherFees }: Fill): string {
  return JSON.stringify({ fee, otherFees })
}
