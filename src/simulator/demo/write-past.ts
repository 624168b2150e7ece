import { createRandom } from '../../lib/random.ts'
import { type ServicePorts } from '../account-service.ts'
import { type ConvertService } from '../convert/convert-service.ts'
import { type CopyService } from '../copy/copy-service.ts'
import { type MarginService } from '../margin/margin-service.ts'
import { type SpotService } from '../spot/spot-service.ts'
import { writeConversions } from './conversions.ts'
import { writeMarginPast } from './margin-past.ts'
import { writeSpotOrders } from './spot-orders.ts'
import { writeTraderPast } from './trader-past.ts'
import { writeWithdrawals } from './withdrawals.ts'

/** The services that have a past to show. */
export interface DemoServices {
  readonly spot: SpotService
  readonly margin: MarginService
  readonly convert: ConvertService
  readonly copy: CopyService
}

/**
 * Gives every account a past at the services beside futures, up to the exchange's first start: orders of every
 * outcome, withdrawals, liquidations, conversions, and a trader's month. It goes through the services' own
 * functions, so that all books add up. The prices end where the market stands, so something must be displayed.
 * The same seed and the same prices write the same past.
 */
export function writeDemoPast(ports: ServicePorts, { spot, margin, convert, copy }: DemoServices): void {
  for (const { book } of spot.state.markets.values()) book.refresh()
  for (const { uid } of ports.accounts) {
    writeSpotOrders(spot.state, uid)
    writeWithdrawals(spot, uid)
    writeConversions(ports, convert, uid)
  }
  writeMarginPast(margin.state)
  const random = createRandom(ports.seed).fork('copy')
  for (const trader of copy.traders.values()) {
    writeTraderPast(trader, copy.firstSetting(), random.fork(trader.uid))
    copy.put(trader)
  }
}
