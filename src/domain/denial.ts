/** A denial is ours; a rejection is the exchange's. */
export const DENIAL_CODES = {
  TRADING_REDUCING: 'only orders that reduce may leave, and this would add risk',
  TRADING_HALTED: 'trading is halted until an operator has looked',
  TRADING_KILLED: 'the kill switch is thrown',
  ENTRY_PAUSED:
    'an exit of the strategy is due, or its entries pause after one (`exits`), or the instrument leaves its `universe`',
  POSITION_UNEXPLAINED:
    'it would open a position that no strategy holds: compare the position with the exchange, and close by hand what no strategy holds; after a fill it waits for the next reading',
  INSTRUMENT_NOT_BOUND: 'the strategy file does not list the instrument',
  INSTRUMENT_STATE: 'the exchange does not allow this on the instrument now (delivery)',
  CLOCK_UNSYNCHRONISED:
    "the exchange's clock is unsynchronised: a clock jumped, or it was not measured for a minute",
  DATA_MISSING: 'there is no usable price for the instrument',
  ACCOUNT_STALE: 'what the account did and holds was not read for longer than risk.accountAgeMaxMs',
  DATA_STALE: 'the prices are older than their freshness limit',
  PRICE_PRECISION: 'the price is not a whole, positive number of ticks, or too large to be exact',
  SIZE_PRECISION: 'the size is not a whole, positive number of lots, or too large to be exact',
  SIZE_BELOW_MINIMUM: 'the order is smaller than the exchange accepts',
  NOTIONAL_BELOW_MINIMUM: 'the order is worth less than the exchange accepts',
  ORDER_SIZE_LIMIT: 'the order is larger than risk.orderSizeMax of the strategy',
  ORDER_NOTIONAL_LIMIT:
    'the order is worth more than risk.orderNotionalMax, of the account or of the strategy (of orders by hand: manual.orderNotionalMax)',
  PRICE_COLLAR: 'a price of the order is further from the market than risk.priceCollarRatio',
  EXIT_WITHOUT_EFFECT:
    "its take-profit or stop-loss would not stand: the order would only make the account's position smaller, and the exchange keeps exits only of an order that opens",
  POSITION_LIMIT: 'the position could grow beyond risk.positionMax of the strategy',
  POSITION_NOTIONAL_LIMIT:
    'the position could be worth more than risk.positionNotionalMax of the strategy allows',
  CAPITAL_LIMIT: 'what the strategy holds and has open could need more margin than its capital',
  GROSS_NOTIONAL_LIMIT: 'the account could hold more than risk.grossNotionalMax',
  LEVERAGE_LIMIT:
    'the account could hold more than risk.leverageMax times its equity, or that is not known',
  LIQUIDATION_NEAR:
    'its position would open nearer to a liquidation than risk.liquidation.reduce: take less, put more margin behind it, or lower the leverage',
  WORST_CASE:
    'the account would not survive a move of risk.survives with this order and all that rests filled: take less, cancel what rests, or put more capital behind it',
  SELF_TRADE: 'it would trade with a resting order of ours, which risk.selfTrade forbids',
  ORDER_PACE: 'as many orders have left within a minute as risk.pace.ordersPerMinute allows',
  IDENTICAL_PACE:
    'as many place intents of equal terms came within a minute as risk.pace.identicalPerMinute allows',
  OPEN_ORDERS_LIMIT: 'there are as many open orders as risk.openOrdersMax allows',
  CLOSE_EXCEEDS_POSITION: 'there is less to close than that',
  KEY_MISSING: 'a place intent needs a key',
  KEY_REUSED: 'an order with this key exists already',
  PLACES_TOO_MANY: 'too many place intents of the strategy wait to be sent already',
  INTENT_EXPIRED: 'it was not sent within its ttlMs',
  INTENT_MALFORMED: 'the strategy returned something that is not an intent',
  INTENTS_TOO_MANY: 'the strategy returned more intents than are looked at',
} as const

export type DenialCode = keyof typeof DENIAL_CODES

export interface Objection {
  readonly code: DenialCode
  readonly detail: string
}

/** Most denials are only counted, so their text is built when it is needed. */
export type Undescribed<Any extends Objection> = Omit<Any, 'detail'> & {
  readonly detail: () => string
}

export interface Denial extends Objection {
  readonly strategyId: string
  readonly symbol: string
  readonly key?: string
}

export function detailOf({ detail }: Objection | Undescribed<Objection>): string {
  return typeof detail === 'string' ? detail : detail()
}

export interface DenialState {
  readonly counts: ReadonlyMap<DenialCode, number>
  /** Keyed by symbol, and then by strategy, code and key; the oldest first. */
  readonly logged: ReadonlyMap<string, ReadonlyMap<string, LoggedDenial>>
  /** Keyed by symbol, strategy and code: names logged in the minute that began at `since`. */
  readonly named: ReadonlyMap<
    string,
    { readonly since: number; readonly keys: ReadonlySet<string> }
  >
  /** Keyed by symbol: denied at its last plan; by scope of a strategy: at its last decision. */
  readonly standing: ReadonlyMap<string, readonly StandingDenial[]>
  /** Keyed like `standing`, and then by strategy, symbol and code; the oldest first. */
  readonly ended: ReadonlyMap<string, ReadonlyMap<string, EndedDenial>>
}

export interface StandingDenial extends Denial {
  readonly orders: number
  /**
   * Unix ms, our clock: the strategy was denied for this code on the symbol since then, under
   * whichever keys, with breaks of seconds at most.
   */
  readonly since: number
}

/** Goes on if it comes back within seconds, and no order of its strategy was approved meanwhile. */
export interface EndedDenial {
  readonly strategyId: string
  readonly since: number
  readonly endedAt: number
}

export interface LoggedDenial {
  readonly loggedAt: number
  readonly snapshot: number
  readonly unlogged: number
  readonly detail: string
}
