import { expect, test } from 'vitest'
import { type Recorded } from '../../src/domain/proofs.ts'
import { OrderSender, type OrderSenderOptions } from '../../src/daemon/account/order-sender.ts'
import { type OutgoingCall } from '../../src/engine/effect.ts'
import { type EngineEvent, type GrantedEndpoint } from '../../src/engine/event.ts'
import { type CallOptions } from '../../src/exchange/client/call-options.ts'
import { type Grant } from '../../src/exchange/limiter/grant.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

const NO_LIMITER: OrderSenderOptions['limiter'] = { request: () => undefined }

/** A sender to an exchange that accepts, whatever it is asked. */
function openDoor({ killed = false, halted = false, limiter = NO_LIMITER } = {}) {
  const time = new ManualTime(MOMENT_AT)
  const events: EngineEvent[] = []
  const asked: { readonly request: unknown; readonly options: CallOptions }[] = []
  const client = {
    send: (request: unknown, options: CallOptions) => {
      asked.push({ request, options })
      return Promise.resolve({ kind: 'accepted', data: 'success', receivedAt: 0 })
    },
  }
  const sender = new OrderSender({
    client: client as unknown as OrderSenderOptions['client'],
    limiter,
    clock: time,
    dispatch: (event) => events.push(event),
    isClockSynchronised: () => true,
    isKilled: () => killed,
    isHalted: () => halted,
    tickersReadAt: () => undefined,
    onWrite: () => {},
    onBroken: (error) => {
      throw error
    },
  })
  return { sender, time, events, asked }
}

/** What the core alone makes. */
function recorded(call: Omit<OutgoingCall, 'body' | 'validUntilAt'>): Recorded<OutgoingCall> {
  return { ...call, body: '{}', validUntilAt: MOMENT_AT + 1000 } as Recorded<OutgoingCall>
}

test('a call leaves with its exact bytes, what takes orders away first, and its answer is told', async () => {
  const { sender, events, asked } = openDoor()
  sender.sendCall(recorded({ callId: 1, endpoint: 'copyConfigSettingSymbols' }))
  sender.sendCall(recorded({ callId: 2, endpoint: 'isolatedBatchCancelOrders' }))
  await sender.idle()

  expect(asked.map(({ options }) => options.priority)).toEqual([1, 0])
  expect(asked[0]?.request).toEqual({ endpoint: 'copyConfigSettingSymbols', body: '{}', query: '' })
  expect(events).toMatchObject([
    { kind: 'callAnswered', callId: 1, answer: { kind: 'accepted' } },
    { kind: 'callAnswered', callId: 2 },
  ])
})

test('[ORD7] a call whose time is over when its turn comes does not leave', () => {
  const { sender, time, asked } = openDoor()
  sender.sendCall(recorded({ callId: 1, endpoint: 'modifyPlanOrder' }))
  const [call] = asked
  time.setClock(MOMENT_AT + 1000)
  expect(call?.options.beforeWrite?.()).toBeUndefined()

  time.setClock(MOMENT_AT + 1001)
  expect(call?.options.beforeWrite?.()).toBe('its time was over before its turn')
})

test('[RSK2] nothing that creates leaves once the kill switch is thrown, however late it is seen', () => {
  const { sender, asked } = openDoor({ killed: true })
  sender.sendCall(recorded({ callId: 1, endpoint: 'modifyPlanOrder' }))
  sender.sendCall(recorded({ callId: 2, endpoint: 'isolatedBatchCancelOrders' }))
  sender.sendBatch({
    batchId: 1,
    symbol: 'BTCUSDT',
    clientOids: [],
    body: '{}',
    validUntilAt: MOMENT_AT,
  } as never)

  const verdicts = asked.map(({ options }) => options.beforeWrite?.())
  expect(verdicts).toEqual(['the kill switch is thrown', undefined, 'the kill switch is thrown'])
})

test('[RSK2] no batch leaves that adds risk to an instrument halted since it was formed', () => {
  const { sender, asked } = openDoor({ halted: true })
  const batch = { batchId: 1, symbol: 'BTCUSDT', clientOids: [], body: '{}', validUntilAt: MOMENT_AT }
  sender.sendBatch(batch as never)

  expect(asked[0]?.options.beforeWrite?.()).toBe('its instrument was halted meanwhile')
})

test('[RSK3] what a broken core held or waited for is given back: there is one cancel-all a second', () => {
  const granted: ((grant: Grant) => void)[] = []
  const unused: string[] = []
  const limiter: OrderSenderOptions['limiter'] = {
    request: (_, __, onGranted) => {
      granted.push(onGranted)
      return { cancel: () => undefined }
    },
  }
  const { sender, events } = openDoor({ limiter })
  const give = (index: number, endpoint: GrantedEndpoint): void =>
    granted[index]?.({ endpoint, release: () => undefined, unused: () => unused.push(endpoint) })
  sender.ask('cancelAllOrders', 'reduce')
  sender.ask('batchPlaceOrder', 'add')
  give(0, 'cancelAllOrders')

  sender.close()
  give(1, 'batchPlaceOrder')

  expect(unused).toEqual(['cancelAllOrders', 'batchPlaceOrder'])
  expect(events).toEqual([{ kind: 'granted', endpoint: 'cancelAllOrders' }])
})
