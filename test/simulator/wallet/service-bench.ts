import {
  type AccountRef,
  type ExchangeAccountSetup,
} from '../../../src/simulator/shared/account.ts'
import { PairsTaken } from '../../../src/simulator/services/pairs-taken.ts'
import { type ServicePorts } from '../../../src/simulator/services/service-ports.ts'
import {
  bindHandlers,
  type BoundHandlers,
  type HandlerTable,
  type ReplyOf,
  type HandlerRequest,
} from '../../../src/simulator/shared/handlers.ts'
import { fillModel, type FillModelName } from '../../../src/simulator/matching/fill-model.ts'
import { createOrderSequence } from '../../../src/simulator/shared/order-sequence.ts'
import { Wallet } from '../../../src/simulator/wallet/wallet.ts'
import { createRestarts } from '../futures/memory-store.ts'
import { HandMarket } from './hand-market.ts'

/** 2026-03-02T12:00:00Z. */
export const STARTED_AT = 1_772_452_800_000

export const ONE = { uid: '1000000001' }
export const TWO = { uid: '1000000002' }

const setup: Omit<ExchangeAccountSetup, 'uid' | 'key'> = {
  label: 'account',
  secret: 'secret',
  passphrase: 'passphrase',
  positionMode: 'one_way_mode',
  role: 'ordinary',
  balances: {},
}

/** What services are created with, on a store and a market that outlive them. */
export interface ServiceBench {
  readonly market: HandMarket
  /** A fresh set of ports on the same store: what a restart hands to the services. */
  open(seed?: string): ServicePorts
}

/** @param model `optimistic` takes all that is displayed, and shows it again at the next quote. */
export function createServiceBench(model: FillModelName = 'optimistic'): ServiceBench {
  const restart = createRestarts()
  const market = new HandMarket()
  market.show('BTCUSDT', { bid: '64999.9', ask: '65000.1', last: '65000' }, STARTED_AT)
  market.show('ETHUSDT', { bid: '2599.99', ask: '2600.01', last: '2600' }, STARTED_AT)
  return {
    market,
    open: (seed = 'bench') => {
      market.forgetFollowers()
      const rows = restart()
      return {
        clock: market.clock,
        ticker: () => undefined,
        market: (symbol) => market.followed(symbol),
        matching: { model: fillModel(model), levelsMax: 20, speed: 1 },
        accounts: [ONE, TWO].map((ref) => ({ ...setup, ...ref, key: `key-${ref.uid}` })),
        seed,
        startAt: STARTED_AT,
        rows,
        wallet: new Wallet(rows),
        taken: new PairsTaken(rows),
        sequence: createOrderSequence(rows),
      }
    },
  }
}

/** A part of the exchange, asked as its endpoints are. */
export class Part<State, Handlers extends HandlerTable<State>> {
  readonly state: State
  readonly #clock: { now: number }
  readonly #answers: BoundHandlers<Handlers>
  readonly #play: (state: State, now: number) => void

  /** @param play What falls due by the clock. */
  constructor(
    market: HandMarket,
    state: State,
    handlers: Handlers,
    play: (state: State, now: number) => void = () => undefined,
  ) {
    this.#play = play
    this.state = state
    this.#clock = market.clock
    this.#answers = bindHandlers(state, handlers)
  }

  answer<Name extends keyof Handlers>(
    name: Name,
    account: AccountRef,
    request: HandlerRequest<Handlers[Name]>,
    now: number,
  ): ReplyOf<Handlers[Name]> {
    return this.at(now, () => this.#answers[name](account, request))
  }

  /** Does something of the operator's at a moment. */
  at<Result>(now: number, handle: (state: State) => Result): Result {
    this.#clock.now = Math.max(this.#clock.now, now)
    this.#play(this.state, this.#clock.now)
    return handle(this.state)
  }
}

/** The data of a success. @throws when it was refused. */
export function dataOf<Data>(
  reply:
    | { readonly ok: true; readonly data: Data }
    | { readonly ok: false; readonly message: string },
): Data {
  if (reply.ok) return reply.data
  throw new Error(reply.message)
}
