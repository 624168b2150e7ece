import type { Answer } from '../domain/answer.ts'
import type { FillsReading, Fill } from '../domain/fill.ts'
import type { ListedExits, PositionReading } from '../domain/position.ts'
import type { OutgoingCall } from '../engine/effect.ts'
import type { GrantedEndpoint } from '../engine/event.ts'
import { PRIORITY, type Grant } from '../exchange/limiter/grant.ts'
import type { CallOptions } from '../exchange/client/request-writer.ts'
import type { ExchangePort, OnAnswer } from '../interpreter/ports.ts'
import type { BatchResult } from '../protocol/values.ts'
import { refusals } from '../simulator/shared/refusals.ts'
import { type Reply, accept } from '../simulator/shared/reply.ts'
import type { FillsPage, SimulatedExchange } from './direct-exchange.ts'
import {
  carry,
  type VirtualWire,
  askFor,
  SteadyReading,
  type SteadyWay,
  type WireCall,
} from './virtual-wire.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { EngineSettings } from '../engine/settings.ts'
import { toListedExits } from '../exchange/readers/exits-reader.ts'
import {
  beginPages,
  type FillsPages,
  type FillsReader,
  type FillsSpan,
  takePage,
  toFill,
  toFillsReading,
  unreadableAnswer,
} from '../exchange/readers/fills-reader.ts'
import {
  type KnownRows,
  type ReadPosition,
  toPositionRows,
} from '../exchange/readers/position-reader.ts'
import type { ResponseOf } from '../protocol/endpoints.ts'
import type { WireFill } from '../protocol/futures/order-fills.ts'

export interface VirtualCallsOptions {
  readonly wire: VirtualWire
  readonly exchange: SimulatedExchange
  readonly pageFills: number
  readonly settings: Pick<EngineSettings, 'positionMode' | 'instruments'>
  /**
   * Called when a call was withheld: perhaps the kill switch is set, and the core does not know it
   * yet.
   */
  readonly onHeldBack: () => void
}

/** Longer than a retreat waits for all its instruments. */
const GRANT_MS = 6000

interface VirtualSend<Data> {
  readonly endpoint: GrantedEndpoint | 'modifyTpslOrder'
  /** @param signedAt exchange clock as we know it */
  readonly perform: (signedAt: number, isCopy: boolean) => Reply<Data>
  readonly options: CallOptions
  readonly onAnswer: OnAnswer<Data>
}

/**
 * A call that has its grant goes straight to the simulator's core. The client's own code makes a
 * reading of the pages, without promises.
 */
export class VirtualCalls implements ExchangePort {
  readonly #wire: VirtualWire
  readonly #exchange: SimulatedExchange
  readonly #onHeldBack: () => void
  readonly #instruments: EngineSettings['instruments']
  readonly #fills: FillsCallOptions
  readonly #steadyFills: SteadyFills | undefined
  readonly #positions = new Map<string, PositionReads>()

  constructor({ wire, exchange, pageFills, settings, onHeldBack }: VirtualCallsOptions) {
    this.#wire = wire
    this.#exchange = exchange
    this.#onHeldBack = onHeldBack
    this.#instruments = settings.instruments
    this.#fills = { wire, exchange, pageFills, reader: createReader(settings) }
    if (wire.steady) this.#steadyFills = new SteadyFills(this.#fills, wire.steady)
  }

  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    const { time, network, gate } = this.#wire
    const waitMs = network.connectMs()
    const send: VirtualSend<BatchResult> = {
      endpoint: 'batchPlaceOrder',
      perform: (signedAt, isCopy) => this.#exchange.placeBatch({ body, signedAt, isCopy }),
      options,
      onAnswer: (answer) => {
        onAnswer(answer)
        if (isHeldBack(answer)) this.#onHeldBack()
      },
    }
    this.#withGrant(send, (grant) =>
      time.after(waitMs, () => gate.settle(() => this.#write(send, grant))),
    )
  }

  cancelAll(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    const send: VirtualSend<BatchResult> = {
      endpoint: 'cancelAllOrders',
      perform: (signedAt) => this.#exchange.cancelAll(body, signedAt),
      options,
      onAnswer,
    }
    this.#withGrant(send, (grant) => this.#write(send, grant))
  }

  /** The simulator's core accepts no other call than the move of an exit. */
  callAccount(
    { endpoint, body }: Pick<OutgoingCall, 'endpoint' | 'body'>,
    options: CallOptions,
    onAnswer: OnAnswer<unknown>,
  ): void {
    const exchange = this.#exchange
    if (endpoint !== 'modifyTpslOrder' || !exchange.moveExit)
      return this.#answerUnsimulated(endpoint, onAnswer)
    const perform = () => exchange.moveExit?.(body) ?? refusals.planOrderUnknown
    const send: VirtualSend<unknown> = { endpoint, perform, options, onAnswer }
    this.#withGrant(send, (grant) => this.#write(send, grant))
  }

  #answerUnsimulated(endpoint: string, onAnswer: OnAnswer<never>): void {
    const { trusted, time, gate } = this.#wire
    const answer = notSent('NOT_SIMULATED', `${endpoint} is not simulated`, trusted.clock.now())
    time.after(0, () => gate.settle(() => onAnswer(answer)))
  }

  listExits(symbol: string, onAnswer: OnAnswer<ListedExits>): void {
    if (!this.#exchange.exitsListed) return this.#answerUnsimulated('ordersPlanPending', onAnswer)
    const instrument = this.#traded(symbol)
    askFor(this.#wire, new ExitsCall({ exchange: this.#exchange, instrument, onAnswer }))
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    const requestedAt = this.#wire.trusted.clock.now()
    const { pageFills: pageMax } = this.#fills
    const span = { sinceAt, requestedAt, exchangeTime: undefined, pageMax }
    if (this.#steadyFills?.leave(span, onAnswer) === true) return
    askFor(
      this.#wire,
      new VirtualFillsCall(this.#fills, { span, read: beginPages(span), onAnswer }),
    )
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    const asked = { requestedAt: this.#wire.trusted.clock.now(), onAnswer }
    const { source, steady } = this.#readsOf(symbol)
    // An ordinary call is made while the steady reading is on its way or would have to wait.
    if (steady === undefined || steady.carried.isAway || !steady.carried.leave())
      return askFor(this.#wire, new VirtualPositionCall(source, asked))
    steady.call.asked = asked
  }

  #readsOf(symbol: string): PositionReads {
    const known = this.#positions.get(symbol)
    if (known) return known
    const source = { exchange: this.#exchange, instrument: this.#traded(symbol), known: new Map() }
    const reads = { source, steady: this.#carryPositions(source) }
    this.#positions.set(symbol, reads)
    return reads
  }

  #carryPositions(source: ReadSource): PositionReads['steady'] {
    const { steady } = this.#wire
    if (steady === undefined) return undefined
    const call = new VirtualPositionCall(source)
    return { call, carried: new SteadyReading(this.#wire, steady, call) }
  }

  #traded(symbol: string): Instrument {
    const instrument = this.#instruments.get(symbol)
    if (!instrument) throw new Error(`${symbol} is not traded here`)
    return instrument
  }

  #withGrant<Data>(
    { endpoint, options, onAnswer }: VirtualSend<Data>,
    then: (grant: Grant) => void,
  ): void {
    if (options.grant) return then(options.grant)
    const { time, trusted, limiter, gate } = this.#wire
    let state: 'waiting' | 'granted' | 'givenUp' = 'waiting'
    time.after(GRANT_MS, () => {
      if (state !== 'waiting') return
      state = 'givenUp'
      const answer = notSent('LIMITER_TIMEOUT', 'no grant came in time', trusted.clock.now())
      gate.settle(() => onAnswer(answer))
    })
    limiter.request(endpoint, options.priority ?? PRIORITY.reads, (grant) => {
      if (state === 'givenUp') return grant.unused()
      state = 'granted'
      gate.settle(() => then(grant))
    })
  }

  #write<Data>({ endpoint, perform, options, onAnswer }: VirtualSend<Data>, grant: Grant): void {
    const { trusted } = this.#wire
    const now = trusted.clock.now()
    const objection = options.beforeWrite?.()
    if (objection !== undefined) {
      grant.unused()
      return onAnswer(notSent(HELD_BACK, objection, now))
    }
    const signedAt = now + (options.clockAheadMs ?? trusted.offset.offsetMs)
    carry(this.#wire, grant, {
      site: endpoint,
      isReading: false,
      perform: (isCopy) => perform(signedAt, isCopy),
      hear: onAnswer,
    })
  }
}

/** The last check before the first byte objected. */
const HELD_BACK = 'STALE'

function isHeldBack(answer: Answer<unknown>): boolean {
  return answer.kind === 'refused' && answer.code === HELD_BACK
}

function notSent(code: string, message: string, receivedAt: number): Answer<never> {
  return {
    kind: 'refused',
    class: 'notSent',
    code,
    topic: 'system',
    message,
    status: undefined,
    receivedAt,
  }
}

type ReadPositions = readonly ReadPosition[] | null

interface FillsCallOptions extends Pick<VirtualCallsOptions, 'wire' | 'exchange' | 'pageFills'> {
  readonly reader: FillsReader
}

interface FillsAsked {
  readonly span: FillsSpan
  readonly read: FillsPages
  readonly onAnswer: OnAnswer<FillsReading>
}

class VirtualFillsCall implements WireCall<FillsPage> {
  readonly site = 'orderFills'
  readonly isReading = true
  readonly #options: FillsCallOptions
  readonly #asked: FillsAsked

  constructor(options: FillsCallOptions, asked: FillsAsked) {
    this.#options = options
    this.#asked = asked
  }

  perform(): Reply<FillsPage> {
    const { exchange, pageFills } = this.#options
    const { span, read } = this.#asked
    return exchange.fillsPage({
      sinceAt: Math.floor(span.sinceAt),
      limit: pageFills,
      ...(read.idLessThan !== undefined && { idLessThan: read.idLessThan }),
    })
  }

  hear(answer: Answer<FillsPage>): void {
    const { wire, reader } = this.#options
    const { span, read, onAnswer } = this.#asked
    if (answer.kind !== 'accepted') return onAnswer(answer)
    const { requestTime } = answer
    const next = takePage(span, read, { fillList: answer.data.fillList, requestTime, askedAt: 0 })
    if (next.kind === 'unreadable')
      return onAnswer(unreadableAnswer(next.message, answer.receivedAt))
    if (next.kind === 'more')
      return askFor(wire, new VirtualFillsCall(this.#options, { ...this.#asked, read: next.read }))
    onAnswer({ ...answer, data: toFillsReading(next.read, span, reader) })
  }
}

class SteadyFills implements WireCall<FillsPage> {
  readonly site = 'orderFills'
  readonly isReading = true
  readonly #options: FillsCallOptions
  readonly #carried: SteadyReading<FillsPage>
  #asked: FillsAsked | undefined

  constructor(options: FillsCallOptions, steady: SteadyWay) {
    this.#options = options
    this.#carried = new SteadyReading(options.wire, steady, this)
  }

  /** @returns false if it is on its way, or would have to wait */
  leave(span: FillsSpan, onAnswer: OnAnswer<FillsReading>): boolean {
    if (this.#carried.isAway || !this.#carried.leave()) return false
    this.#asked = { span, read: beginPages(span), onAnswer }
    return true
  }

  perform(): Reply<FillsPage> {
    const { exchange, pageFills } = this.#options
    const sinceAt = Math.floor(this.#present.span.sinceAt)
    if (exchange.hasFillsSince?.(sinceAt) === false) return NO_PAGE
    return exchange.fillsPage({ sinceAt, limit: pageFills })
  }

  hear(answer: Answer<FillsPage>): void {
    new VirtualFillsCall(this.#options, this.#present).hear(answer)
  }

  get #present(): FillsAsked {
    if (this.#asked === undefined) throw new Error('no fills were asked for')
    return this.#asked
  }
}

const NO_PAGE: Reply<FillsPage> = accept({ fillList: [], endId: '' })

/** The simulated exchange returns the same row object each time, so fills are kept by rows. */
function createReader({ positionMode, instruments }: VirtualCallsOptions['settings']): FillsReader {
  const fills = new WeakMap<WireFill, Fill>()
  return {
    instruments,
    readRow(instrument, row) {
      const known = fills.get(row)
      if (known) return known
      const fill = toFill(instrument, positionMode, row)
      if (typeof fill !== 'string') fills.set(row, fill)
      return fill
    },
  }
}

interface ReadSource {
  readonly exchange: SimulatedExchange
  readonly instrument: Instrument
  readonly known: KnownRows
}

/**
 * The readings of one instrument. On a steady network the same call carries one after the other.
 */
interface PositionReads {
  readonly source: ReadSource
  readonly steady:
    | { readonly call: VirtualPositionCall; readonly carried: SteadyReading<ReadPositions> }
    | undefined
}

interface PositionAsked {
  readonly requestedAt: number
  readonly onAnswer: OnAnswer<PositionReading>
}

class VirtualPositionCall implements WireCall<ReadPositions> {
  readonly site = 'singlePosition'
  readonly isReading = true
  readonly #source: ReadSource
  asked: PositionAsked | undefined

  constructor(source: ReadSource, asked?: PositionAsked) {
    this.#source = source
    this.asked = asked
  }

  perform(): Reply<ReadPositions> {
    const { exchange, instrument } = this.#source
    return exchange.position(instrument.symbol)
  }

  hear(answer: Answer<ReadPositions>): void {
    if (this.asked === undefined) throw new Error('no position was asked for')
    const { instrument, known } = this.#source
    const { requestedAt, onAnswer } = this.asked
    if (answer.kind !== 'accepted') return onAnswer(answer)
    const rows = toPositionRows(instrument, answer.data ?? [], known)
    if (typeof rows === 'string')
      return onAnswer(unreadableAnswer(rows, answer.receivedAt, 'unreadableRow'))
    const { symbol } = instrument
    const isSilent = answer.data === null
    const exchangeTime = answer.requestTime ?? 0
    onAnswer({ ...answer, data: { symbol, rows, isSilent, requestedAt, exchangeTime } })
  }
}

type PlansPage = ResponseOf<'ordersPlanPending'>

interface ExitsCallOptions extends Pick<ReadSource, 'exchange' | 'instrument'> {
  readonly onAnswer: OnAnswer<ListedExits>
}

class ExitsCall implements WireCall<PlansPage> {
  readonly site = 'ordersPlanPending'
  readonly isReading = true
  readonly #options: ExitsCallOptions

  constructor(options: ExitsCallOptions) {
    this.#options = options
  }

  perform(): Reply<PlansPage> {
    const { exchange, instrument } = this.#options
    return exchange.exitsListed?.(instrument.symbol) ?? refusals.planOrderUnknown
  }

  hear(answer: Answer<PlansPage>): void {
    const { instrument, onAnswer } = this.#options
    if (answer.kind !== 'accepted') return onAnswer(answer)
    const listed = toListedExits(instrument, answer.data.entrustedList ?? [])
    if (typeof listed === 'string')
      return onAnswer(unreadableAnswer(listed, answer.receivedAt, 'unreadableRow'))
    onAnswer({ ...answer, data: listed })
  }
}
