declare const brand: unique symbol

type Brand<Value, Name extends string> = Value & { readonly [brand]: Name }

/** The wire's client order id: 1 to 32 of `[0-9a-z-]`. */
export type ClientOid = Brand<string, 'ClientOid'>

export type OrderId = Brand<string, 'OrderId'>

export type TradeId = Brand<string, 'TradeId'>

/** Unique within a daemon for the lifetime of its journal. */
export type StrategyId = Brand<string, 'StrategyId'>

/** The keys of maps, as plain text; those of two parts are joined by a bar. */
export type InstrumentSymbol = string
export type SymbolAndInterval = string
export type SymbolAndSide = string
export type StrategyAndSymbol = string
export type StrategyAndKey = string

const CLIENT_OID = /^[0-9a-z-]{1,32}$/

/**
 * @throws RangeError for a text that some reading of the exchange's rules would refuse or change
 */
export function toClientOid(text: string): ClientOid {
  if (!CLIENT_OID.test(text)) throw new RangeError(`not a clientOid: "${text}"`)
  return text as ClientOid
}

export function toOrderId(text: string): OrderId {
  return text as OrderId
}

export function toTradeId(text: string): TradeId {
  return text as TradeId
}

export function toStrategyId(text: string): StrategyId {
  return text as StrategyId
}
