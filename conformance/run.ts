import assert from 'node:assert/strict'
import { ConformedExchange, type OpenOptions } from './exchange.ts'
import { Report } from './report.ts'
import { tryAccounts } from './cases/accounts.ts'
import { tryAuthentication, tryTamperedRequests } from './cases/authentication.ts'
import { tryEveryProduct } from './cases/every-product.ts'
import { tryFuturesFills } from './cases/futures-fills.ts'
import { tryFuturesOrders } from './cases/futures-orders.ts'
import { tryGateway } from './cases/gateway.ts'
import { tryGoldenAnswers } from './cases/golden-answers.ts'
import { tryGoldenRequests } from './cases/golden-requests.ts'
import { tryHedgeMode } from './cases/hedge-mode.ts'
import { tryMargin } from './cases/margin.ts'
import { tryPublicReads } from './cases/public-reads.ts'
import { GATEWAY_CALLS, tryRateLimits } from './cases/rate-limits.ts'
import { tryRules } from './cases/rules.ts'
import { trySettings } from './cases/settings.ts'
import { trySpot } from './cases/spot.ts'

/*
 * Holds the simulator against public clients of the exchange that nobody here wrote, and our own client
 * against recorded answers. `npm run conformance` installs the clients and runs this; a text after `--`
 * picks the cases whose title holds it.
 */

type Group = (report: Report, exchange: ConformedExchange) => Promise<void>

/** A fresh exchange for the group, and a fresh second of every limit for each of its cases. */
async function onExchange(report: Report, group: Group, options: OpenOptions = {}): Promise<void> {
  const exchange = await ConformedExchange.open(options)
  report.beforeEach(() => exchange.passSecond())
  try {
    await group(report, exchange)
    report.beforeEach(() => {})
    await report.try(`the books add up after ${group.name}`, () =>
      Promise.resolve(assertBalanced(exchange)),
    )
  } finally {
    report.beforeEach(() => {})
    await exchange.stop()
  }
}

/** All accounts and the exchange's own books together are zero, coin for coin. */
function assertBalanced(exchange: ConformedExchange): string {
  assert.deepEqual(exchange.simulator.exchange.imbalances(), [])
  return 'every coin of every book comes to 0'
}

const report = new Report(process.argv[2])
for (const group of [
  tryPublicReads,
  tryFuturesOrders,
  tryFuturesFills,
  tryEveryProduct,
  tryHedgeMode,
  trySpot,
  tryMargin,
  tryAccounts,
  tryGateway,
  tryAuthentication,
  tryTamperedRequests,
]) {
  await onExchange(report, group)
}
// More cases than fit into half a minute of a clock that runs ahead.
await onExchange(report, tryRules, { simulator: { wire: { timestampToleranceMs: 600_000 } } })
await onExchange(report, tryRateLimits, {
  isFrozen: true,
  simulator: {
    wire: { timestampToleranceMs: 600_000, gatewayLimit: { calls: GATEWAY_CALLS, perMs: 1000 } },
  },
})
await trySettings(report)
await onExchange(report, tryGoldenRequests)
await tryGoldenAnswers(report)
process.exitCode = report.close().failed === 0 ? 0 : 1
