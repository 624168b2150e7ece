import { systemTimers } from '../../lib/timers.ts'

const FLUSH_EVERY_MS = 250

interface CountedNews {
  readonly count: number
}

/**
 * Bundles news that a flood makes by the thousand: one message for each kind, a few times a second.
 */
export class NewsBundle<News extends CountedNews> {
  readonly #post: (news: News) => void
  readonly #waiting = new Map<string, News>()
  #isPlanned = false

  constructor(post: (news: News) => void) {
    this.#post = post
  }

  /** @param key of a kind: the last of it is posted, with the sum of the counts */
  add(key: string, news: News): void {
    const count = (this.#waiting.get(key)?.count ?? 0) + news.count
    this.#waiting.set(key, { ...news, count })
    if (this.#isPlanned) return
    this.#isPlanned = true
    systemTimers.after(FLUSH_EVERY_MS, () => this.flush())
  }

  /** Called before any other message, so that the counts are complete when it arrives. */
  flush(): void {
    this.#isPlanned = false
    for (const news of this.#waiting.values()) this.#post(news)
    this.#waiting.clear()
  }
}
