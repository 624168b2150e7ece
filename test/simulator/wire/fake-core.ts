import { type RequestOf, type ResponseOf } from '../../../src/protocol/endpoints.ts'
import { type AccountSetup } from '../../../src/simulator/core/account.ts'
import { accept, type Reply } from '../../../src/simulator/core/reply.ts'
import { type ServedCore } from '../../../src/simulator/wire/handlers.ts'

export const ALICE: AccountSetup = {
  uid: '1001',
  label: 'alice',
  key: 'key-of-alice',
  secret: 'secret-of-alice',
  passphrase: 'passphrase-of-alice',
  positionMode: 'one_way_mode',
  role: 'ordinary',
  balances: { USDT: '10000' },
}

export const CAROL: AccountSetup = {
  ...ALICE,
  uid: '1003',
  label: 'carol',
  key: 'key-of-carol',
  role: 'copyTrader',
}

/** A core that accepts everything, remembers what it was asked, and can be told to refuse or to break. */
export class FakeCore implements ServedCore {
  readonly calls: { readonly name: string; readonly uid: string | undefined; readonly request: unknown }[] =
    []
  readonly advances: number[] = []
  refusal: { readonly code: string; readonly message: string } | undefined
  defect: Error | undefined
  tickerRows: ResponseOf<'tickers'> = [TICKER]
  readonly #accounts: readonly AccountSetup[]

  constructor(accounts: readonly AccountSetup[] = [ALICE, CAROL]) {
    this.#accounts = accounts
  }

  advance(now: number): void {
    this.advances.push(now)
  }

  batchPlaceOrder({ uid }: { uid: string }, request: RequestOf<'batchPlaceOrder'>) {
    const successList = request.orderList.map(({ clientOid }, index) => ({ orderId: `9${index}`, clientOid }))
    return this.#reply('batchPlaceOrder', uid, request, { successList, failureList: [] })
  }

  cancelAllOrders({ uid }: { uid: string }, request: RequestOf<'cancelAllOrders'>) {
    return this.#reply('cancelAllOrders', uid, request, { successList: [], failureList: [] })
  }

  modifyPlanOrder({ uid }: { uid: string }, request: RequestOf<'modifyPlanOrder'>) {
    return this.#reply('modifyPlanOrder', uid, request, { orderId: '1', clientOid: 'a' })
  }

  orderFills({ uid }: { uid: string }, request: RequestOf<'orderFills'>) {
    return this.#reply('orderFills', uid, request, { fillList: [], endId: null })
  }

  singlePosition({ uid }: { uid: string }, request: RequestOf<'singlePosition'>) {
    return this.#reply('singlePosition', uid, request, [])
  }

  tickers(request: RequestOf<'tickers'>) {
    return this.#reply('tickers', undefined, request, this.tickerRows)
  }

  longShortRatio(request: RequestOf<'longShortRatio'>) {
    return this.#reply('longShortRatio', undefined, request, [{ ts: '1700000000000', longShortRatio: '1.1' }])
  }

  accountByKey(apiKey: string): AccountSetup | undefined {
    return this.#accounts.find(({ key }) => key === apiKey)
  }

  #reply<Data>(name: string, uid: string | undefined, request: unknown, data: Data): Reply<Data> {
    if (this.defect !== undefined) throw this.defect
    this.calls.push({ name, uid, request })
    return this.refusal === undefined ? accept(data) : { ok: false, ...this.refusal }
  }
}

const TICKER: ResponseOf<'tickers'>[number] = {
  symbol: 'BTCUSDT',
  lastPr: '60000.1',
  askPr: '60000.2',
  bidPr: '60000.1',
  bidSz: '1.2',
  askSz: '3.4',
  ts: '1700000000000',
}
