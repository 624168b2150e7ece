import { type EngineEvent } from '../engine/event.ts'
import { type ExchangeClient } from '../exchange/exchange-client.ts'
import { type Clock } from '../lib/clock.ts'
import { deepFreeze } from '../lib/deep-freeze.ts'
import { messageOf } from '../lib/failure.ts'
import { type Timers } from '../lib/timers.ts'
import { PollGrid } from '../market/poll-grid.ts'
import { type Feed } from './feed-plan.ts'

export interface FeedsOptions {
  readonly feeds: readonly Feed[]
  readonly client: ExchangeClient
  readonly clock: Clock
  readonly timers: Timers
  readonly dispatch: (event: EngineEvent) => void
  readonly onError: (what: string, reason: string) => void
}

/** Reads the feeds that strategies asked for, each on a grid of its own, within the limits like any read. */
export class Feeds {
  readonly #grids: readonly PollGrid[]

  constructor({ feeds, client, clock, timers, dispatch, onError }: FeedsOptions) {
    this.#grids = feeds.map(
      ({ id, request, everyMs }) =>
        new PollGrid({
          intervalMs: everyMs,
          clock,
          timers,
          onError: (error) => onError(`feed ${id}`, messageOf(error)),
          poll: async () => {
            const answer = await client.send(request)
            if (answer.kind !== 'accepted') {
              const reason = `${answer.kind} ${answer.code}: ${answer.message}`
              dispatch({ kind: 'readFailed', what: `feed ${id}`, reason })
              return
            }
            // Strategies share what was read: none of them may change it under the others.
            const reading = { data: deepFreeze(answer.data), readAt: answer.receivedAt }
            dispatch({ kind: 'feedRead', feed: id, reading })
          },
        }),
    )
  }

  start(): void {
    for (const grid of this.#grids) grid.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#grids.map((grid) => grid.stop()))
  }
}
