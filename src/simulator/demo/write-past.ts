import { createRandom } from '../../lib/random.ts'
import type { ConvertState } from '../convert/convert.ts'
import { firstSetting, type CopyState } from '../copy/copy.ts'
import { TRADERS } from '../copy/trader.ts'
import type { MarginState } from '../margin/margin-state.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import type { SpotState } from '../spot/spot-state.ts'
import { writeConversions } from './conversions.ts'
import { writeMarginPast } from './margin-past.ts'
import { writeSpotOrders, writeWithdrawals } from './spot-past.ts'
import { writeTraderPast } from './trader-past.ts'

export interface DemoServices {
  readonly spot: SpotState
  readonly margin: MarginState
  readonly convert: ConvertState
  readonly copy: CopyState
}

/** A price must be displayed, because the past ends at the present market. */
export function writeDemoPast(
  ports: ServicePorts,
  { spot, margin, convert, copy }: DemoServices,
): void {
  for (const pair of spot.pairs.values()) pair.refresh()
  for (const { uid } of ports.accounts) {
    writeSpotOrders(spot, uid)
    writeWithdrawals(spot, uid)
    writeConversions(convert, uid)
  }
  writeMarginPast(margin)
  const random = createRandom(ports.seed).fork('copy')
  for (const trader of copy.traders.values()) {
    writeTraderPast(trader, firstSetting(copy), random.fork(trader.uid))
    ports.rows.put(TRADERS, trader)
  }
}
