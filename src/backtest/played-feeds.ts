import type { FeedId, FeedReading } from '../domain/feed.ts'
import { nameOfSignal, type SignalValue } from '../domain/signal.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Known readings, in the order of their instants. */
export interface PlayedFeed {
  readonly feed: FeedId
  /** Rising: when the run hears of each. */
  readonly heardAt: readonly number[]
  reading(index: number): FeedReading
}

function toEvent(feed: FeedId, reading: FeedReading): EngineEvent {
  const { id, data } = reading
  if (id === undefined) return { kind: 'feedRead', feed, reading }
  return { kind: 'signalTaken', feed, id, value: data as SignalValue }
}

export interface PlayedFeedsOptions {
  readonly feeds: readonly PlayedFeed[]
  readonly time: VirtualTime
  readonly isOver: () => boolean
  readonly dispatch: (event: EngineEvent) => void
}

/**
 * Never gives a reading before its instant. A run begins with the last one before it, as a daemon
 * reads each feed when it starts.
 */
export class PlayedFeeds {
  readonly #options: PlayedFeedsOptions

  constructor(options: PlayedFeedsOptions) {
    this.#options = options
  }

  start(): void {
    const { feeds, time } = this.#options
    for (const feed of feeds) {
      // A daemon reads feeds when it starts; a signal comes when it is sent.
      const isSignal = nameOfSignal(feed.feed) !== undefined
      const known = isSignal ? -1 : feed.heardAt.findLastIndex((at) => at <= time.now)
      if (known >= 0) this.#hear(feed, known)
      else this.#await(feed, isSignal ? firstAfter(feed, time.now) : 0)
    }
  }

  #hear(feed: PlayedFeed, index: number): void {
    const { isOver, dispatch } = this.#options
    if (isOver()) return
    dispatch(toEvent(feed.feed, feed.reading(index)))
    this.#await(feed, index + 1)
  }

  #await(feed: PlayedFeed, index: number): void {
    const { time } = this.#options
    const at = feed.heardAt[index]
    if (at !== undefined) time.after(at - time.now, () => this.#hear(feed, index))
  }
}

function firstAfter({ heardAt }: PlayedFeed, now: number): number {
  const index = heardAt.findIndex((at) => at > now)
  return index < 0 ? heardAt.length : index
}
