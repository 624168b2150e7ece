import { defineStrategy, type InstrumentView, positiveDecimal, z } from 'intentd/strategy'

/**
 * Buys for the same amount at a fixed interval (dollar-cost averaging), and sells the whole
 * position once the price is far enough above the average paid.
 *
 * Time is divided into slots on the exchange's clock. A slot names its buy order (`key`), so a
 * restart never buys twice in one slot. A slot missed while the daemon was down is left out. The
 * sell order rests at the exchange.
 */
const MINUTE_MS = 60_000

const paramsSchema = z.strictObject({
  amount: positiveDecimal('What each buy may cost, in the quote coin.'),
  amountMax: positiveDecimal(
    'Nothing is bought beyond this, of what was paid and of what it is worth, in the quote coin.',
  ),
  everyMinutes: z
    .int()
    .min(1)
    .max(44_640)
    .default(60)
    .meta({ description: 'Length of a slot, in minutes.' }),
  takeProfitBps: z
    .number()
    .min(1)
    .max(10_000)
    .default(100)
    .meta({ description: 'Sells this far above the average, in bps.' }),
})
type Params = z.infer<typeof paramsSchema>

export default defineStrategy({
  name: 'dca',
  params: paramsSchema,
  /** The last slot seen. The daemon would drop a second order with the same key anyway. */
  initialState: () => ({ slots: {} as Record<string, number> }),

  check({ amount, amountMax }) {
    return Number(amount) > Number(amountMax)
      ? [`amount ${amount} is above amountMax ${amountMax}`]
      : []
  },

  decide(snapshot, { params, state }) {
    const slots = { ...state.slots }
    const slot = Math.floor(snapshot.exchangeTime / (params.everyMinutes * MINUTE_MS))
    const intents = snapshot.instruments.flatMap((market) => {
      if (!market.hasPrices) return []
      const isNew = (slots[market.symbol] ?? Number.NEGATIVE_INFINITY) < slot
      if (isNew) slots[market.symbol] = slot
      return [...(isNew ? buy(market, params, slot) : []), takeProfit(market, params)]
    })
    return { intents, state: { slots } }
  },
})

/**
 * Buys at the best price or not at all. There is no order below the minimum size or beyond
 * `amountMax`.
 */
function buy(market: InstrumentView, { amount, amountMax }: Params, slot: number) {
  const lots = market.lotsBelow(Number(amount) / market.ask)
  // After a fall the price paid counts: the sale of the whole position is above it, and must pass
  // the limits too.
  const price = Math.max(market.ask, Number.isNaN(market.entryPrice) ? 0 : market.entryPrice)
  const value = market.size(Math.max(0, market.netLots)) * price + market.size(lots) * market.ask
  if (lots < market.lotsMin || value > Number(amountMax)) return []
  const key = `dca:${market.symbol}:${slot}`
  return [market.place({ key, action: 'openLong', lots, ticks: market.askTicks, force: 'ioc' })]
}

/** Sells the whole position above its average price. The ladder changes only with a buy. */
function takeProfit(market: InstrumentView, { takeProfitBps }: Params) {
  const { netLots: lots, entryPrice } = market
  if (lots <= 0 || Number.isNaN(entryPrice)) return market.quote([])
  const ticks = market.ticksAbove(entryPrice * (1 + takeProfitBps / 10_000))
  return market.quote([{ side: 'sell', ticks: Math.max(ticks, market.bidTicks + 1), lots }])
}
