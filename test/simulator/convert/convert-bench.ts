import { decimal } from '../../../src/lib/decimal.ts'
import {
  bookConversion,
  convertHandlers,
  openConvert,
  type ConvertSettings,
  type ConvertState,
} from '../../../src/simulator/convert/convert.ts'
import { lastPrice } from '../../../src/simulator/demo/write-past.ts'
import { type AccountRef } from '../../../src/simulator/shared/account.ts'
import { accept, type Reply } from '../../../src/simulator/shared/reply.ts'
import { type ServicePorts } from '../../../src/simulator/services/service-ports.ts'
import { Part, type ServiceBench } from '../wallet/service-bench.ts'

/** Making a conversion is no endpoint, but asked for like one; more than there is is left alone. */
const HANDLERS = { ...convertHandlers, convert }

function convert(
  state: ConvertState,
  { uid }: AccountRef,
  { fromCoin, amount }: { readonly fromCoin: string; readonly amount: string },
): Reply<object> {
  const { wallet, clock } = state.ports
  const [from, price] = [decimal(amount), decimal(lastPrice(state.ports, `${fromCoin}USDT`))]
  const isThere = wallet.coin({ uid, balance: 'spot', coin: fromCoin }).available.gte(from)
  if (isThere) bookConversion(state, uid, { fromCoin, from, price, at: clock.now })
  return accept({})
}

export function openConvertPart(
  { market }: ServiceBench,
  ports: ServicePorts,
  settings: Partial<ConvertSettings> = {},
) {
  return new Part(market, openConvert(ports, settings), HANDLERS)
}

export type ConvertPart = ReturnType<typeof openConvertPart>
