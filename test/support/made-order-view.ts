import type { OrderView } from '../../src/control/views.ts'

const RESTING: OrderView = {
  clientOid: 'a',
  orderId: null,
  strategy: 'grid',
  symbol: 'BTCUSDT',
  action: 'openLong',
  state: 'live',
  price: '1',
  size: '1',
  filled: '0',
  force: 'post_only',
  purpose: 'quote',
  key: '',
  tag: '',
  reason: '',
}

/** A new field of the view has one line above. */
export function makeOrderView(changes: Partial<OrderView> = {}): OrderView {
  return { ...RESTING, ...changes }
}
