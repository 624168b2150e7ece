import type { ReadableFile } from './cross-checks.ts'
import { stopAtExchangeShare } from './schema/exits-schema.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { StrategyFile } from './schema/strategy-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/salvage.ts'

export function checkExits(
  { source, settings }: ReadableFile<StrategyFile>,
  daemon: PartialSettings<DaemonFile>,
): Problem[] {
  const { distance, atExchange } = settings.exits?.stop ?? {}
  if (distance === undefined) return []
  const problems = (settings.instruments ?? []).flatMap((symbol) => {
    const message = symbol && objectToWidth(symbol, distance, daemon)
    return message ? [source.problem(['exits', 'stop', 'distance'], message)] : []
  })
  const collar = daemon.risk?.priceCollarRatio
  const beyond = stopAtExchangeShare(distance)
  if (atExchange === true && collar !== undefined && beyond > collar) {
    const message = `the stop at the exchange would be ${beyond} from the price, and risk.priceCollarRatio ${collar} of the main file denies an order with a price so far away: nothing would be opened`
    problems.push(source.problem(['exits', 'stop', 'atExchange'], message))
  }
  return problems
}

function objectToWidth(
  symbol: string,
  distance: number,
  { account, instruments, simulator }: PartialSettings<DaemonFile>,
): string | undefined {
  if (account?.marginMode !== 'isolated') return undefined
  const { leverage: own, maintenance } = instruments?.[symbol] ?? {}
  const leverage = own ?? account.leverage ?? simulator?.leverage
  if (leverage === undefined) return undefined
  const left = 1 / leverage - (maintenance?.[0]?.rate ?? 0)
  if (distance < left) return undefined
  return `at a leverage of ${leverage} an isolated position of ${symbol} is liquidated after ${(left * 100).toFixed(2)} %, before this stop: lower the leverage, or the distance`
}
