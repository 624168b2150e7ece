import type { RefusedAnswer, UnknownAnswer } from '../../domain/answer.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { Clock } from '../../lib/clock.ts'
import { deepFreeze } from '../../lib/plain-data.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { Pollers, type WatchedLoop } from '../../lib/poller.ts'
import type { Feed } from '../../assembly/strategies/strategies.ts'

export interface FeedsOptions {
  readonly feeds: readonly Feed[]
  readonly client: Pick<ExchangeClient, 'send'>
  readonly clock: Clock
  readonly timers: Timers
  readonly dispatch: (event: EngineEvent) => void
  readonly onError: (what: string, reason: string) => void
}

/** Each feed is also read at the start, so that none waits for its interval. */
export class Feeds {
  readonly #options: FeedsOptions
  readonly #pollers: Pollers
  #first: Promise<unknown> = Promise.resolve()

  constructor(options: FeedsOptions) {
    this.#options = options
    this.#pollers = new Pollers(options)
    for (const feed of options.feeds)
      this.#pollers.add(nameOf(feed), feed.everyMs, () => this.#read(feed))
  }

  start(): void {
    const { feeds } = this.#options
    this.#first = Promise.all(
      feeds.map((feed) =>
        this.#read(feed).catch((error: unknown) => this.#reportDefect(feed, error)),
      ),
    )
    this.#pollers.start()
  }

  get loops(): readonly WatchedLoop[] {
    return this.#pollers.loops.map((loop) => ({ ...loop, isCalling: true }))
  }

  async stop(): Promise<void> {
    await Promise.all([this.#first, this.#pollers.stop()])
  }

  async #read(feed: Feed): Promise<void> {
    const { client, dispatch } = this.#options
    const answer = await client.send(feed.request)
    if (answer.kind !== 'accepted') {
      dispatch({
        kind: 'readFailed',
        what: nameOf(feed),
        reason: reasonOf(answer),
        status: answer.status,
      })
      return
    }
    // Frozen, because all strategies share it.
    const reading = { data: deepFreeze(answer.data), readAt: answer.receivedAt }
    dispatch({ kind: 'feedRead', feed: feed.id, reading })
  }

  #reportDefect(feed: Feed, error: unknown): void {
    this.#options.onError(nameOf(feed), messageOf(error))
  }
}

function nameOf({ id }: Feed): string {
  return `feed ${id}`
}

function reasonOf(answer: RefusedAnswer | UnknownAnswer): string {
  const what = answer.kind === 'unknown' ? `unknown (${answer.cause})` : answer.kind
  return `${what} ${answer.code}: ${answer.message}`.replace(/ ?: $/, '')
}
