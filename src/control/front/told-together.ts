import { systemTimers } from '../../lib/timers.ts'

const TOLD_EVERY_MS = 250

interface Counted {
  readonly count: number
}

/** What a flood makes by the thousand is one message for each kind, a few times a second. */
export class ToldTogether<News extends Counted> {
  readonly #tell: (news: News) => void
  readonly #waiting = new Map<string, News>()
  #isPlanned = false

  constructor(tell: (news: News) => void) {
    this.#tell = tell
  }

  /** @param key of its kind, of which the last is told, with the sum of the counts */
  add(key: string, news: News): void {
    const count = (this.#waiting.get(key)?.count ?? 0) + news.count
    this.#waiting.set(key, { ...news, count })
    if (this.#isPlanned) return
    this.#isPlanned = true
    systemTimers.after(TOLD_EVERY_MS, () => this.flush())
  }

  /** Before any other message: whoever asks next for the counts finds them whole. */
  flush(): void {
    this.#isPlanned = false
    for (const news of this.#waiting.values()) this.#tell(news)
    this.#waiting.clear()
  }
}
