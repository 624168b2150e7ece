import { defineStrategy, type InstrumentView, positiveDecimal, z } from '#strategy'

/**
 * Buys for the same amount at a fixed interval (dollar-cost averaging), and sells all of it once the price is far
 * enough above the average paid.
 *
 * Time is cut into slots, counted on the exchange's clock. A slot names its buy order (`key`), so none buys twice,
 * whenever the daemon was restarted; one that was slept through is left out. The sell order rests at the exchange.
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
  /** The last slot that was looked at: the daemon would drop a second order of it anyway. */
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

/** At the best price or not at all; nothing where it would be too small an order, or too much in the end. */
function buy(market: InstrumentView, { amount, amountMax }: Params, slot: number) {
  const lots = market.lotsBelow(Number(amount) / market.ask)
  // In a fall what was paid: the sale of all of it is for more than that, and has to pass the limits too.
  const price = Math.max(market.ask, Number.isNaN(market.entryPrice) ? 0 : market.entryPrice)
  const value = market.size(Math.max(0, market.netLots)) * price + market.size(lots) * market.ask
  if (lots < market.lotsMin || value > Number(amountMax)) return []
  const key = `dca:${market.symbol}:${slot}`
  return [market.place({ key, action: 'openLong', lots, ticks: market.askTicks, force: 'ioc' })]
}

/** All that is held, above its average price. The ladder changes with each buy and stands still between them. */
function takeProfit(market: InstrumentView, { takeProfitBps }: Params) {
  const { netLots: lots, entryPrice } = market
  if (lots <= 0 || Number.isNaN(entryPrice)) return market.quote([])
  const ticks = market.ticksAbove(entryPrice * (1 + takeProfitBps / 10_000))
  return market.quote([{ side: 'sell', ticks: Math.max(ticks, market.bidTicks + 1), lots }])
}
