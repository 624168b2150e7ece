import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { formerNetOf } from '../world/account-plan.ts'
import { fillKeyOf } from '../virtual/exchange-truth.ts'
import { capitalOf, isKnownFill, type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * RSK2: a command by hand that was taken while figures were unknown sells no healthy position once
 * they are known: no withdrawal leaves nothing, no release of a drawdown fires again at once, and
 * no share is closed of what this process has not read.
 */
export function watchHandCommands(world: World): WorldWatcher {
  const read = new Set<string>()
  return {
    onBirth: () => read.clear(),
    afterStep(event, effects) {
      const isRefused = effects.some(
        (effect) => effect.kind === 'announce' && effect.event === 'read.failed',
      )
      if (event.kind === 'positionRead' && !isRefused) read.add(event.reading.symbol)
    },
    onRecord(record) {
      if (record.kind === 'deposit') judgeWithdrawal(world, record)
      if (record.kind === 'released') judgeRelease(world, record)
      if (record.kind !== 'restricted' || record.code !== 'close') return
      for (const { symbol, strategyId, longLots, shortLots } of record.keeps ?? [])
        // The whole may be closed whatever it is.
        if (longLots + shortLots > 0 && !read.has(symbol))
          violate(
            world,
            'RSK2',
            `a share of what ${strategyId} holds of ${symbol} is closed before it was read`,
          )
    },
  }
}

type RecordOf<Kind extends JournalRecord['kind']> = Extract<JournalRecord, { readonly kind: Kind }>

function judgeWithdrawal(world: World, { deposit }: RecordOf<'deposit'>): void {
  const left = capitalOf(world) + trueNetOf(world)
  if (deposit.isCapital && Number(deposit.amount) < 0 && left <= 0)
    violate(world, 'RSK2', `a withdrawal of ${deposit.amount} was entered, which leaves ${left}`)
}

/** Judged where all is closed and every fill is known: then the drawdown is not a matter of prices. */
function judgeRelease(world: World, { scope, peak, by }: RecordOf<'released'>): void {
  const { settings, exchange, process } = world
  const { flatten } = settings.losses?.limits.get(ACCOUNT)?.drawdown ?? {}
  if (scope !== ACCOUNT || peak !== 'kept' || flatten === undefined || by === 'intentd') return
  const lastPeak = process.engine?.book.watermarks.get(ACCOUNT)?.lastPeak ?? null
  if (lastPeak === null || exchange.ledger().positions.length > 0) return
  if (exchange.truth.fillsInOrder.some((fill) => !isKnownFill(world, fillKeyOf(fill)))) return
  const fallen = (lastPeak - trueNetOf(world)) / (capitalOf(world) + lastPeak)
  if (fallen > flatten * (1 + 1e-6))
    violate(world, 'RSK2', `released ${fallen} below the peak, where ${flatten} closes everything`)
}

/** By the exchange's ledger, at the price at which its market stands. */
function trueNetOf({ plan, settings, exchange }: World): number {
  const { coins, positions } = exchange.ledger()
  let net = formerNetOf(plan)
  for (const { realisedProfit, fees, funding } of coins)
    net += Number(realisedProfit) - Number(fees) + Number(funding)
  for (const { symbol, holdSide, size, openPriceAvg } of positions) {
    const spec = settings.instruments.get(symbol)
    const price = spec === undefined ? Number.NaN : floatOnGrid(spec.tick, exchange.priceOf(symbol))
    net += (price - Number(openPriceAvg)) * Number(size) * (holdSide === 'long' ? 1 : -1)
  }
  return net
}
