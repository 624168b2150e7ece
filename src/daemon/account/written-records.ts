import type { Journal } from '../../journal/journal.ts'

type OnWritten = (isWritten: boolean) => void

/** Answers of commands wait here for the journal. A run that breaks down ends all waiting. */
export class WrittenRecords {
  readonly #journal: Pick<Journal, 'commit'>
  readonly #onFailure: (error: unknown) => void
  readonly #waiting = new Set<OnWritten>()

  constructor(journal: Pick<Journal, 'commit'>, onFailure: (error: unknown) => void) {
    this.#journal = journal
    this.#onFailure = onFailure
  }

  /**
   * Calls `done`, at once or later, when all that was recorded so far is durable. False: the run
   * broke down first, and the journal may have it or not.
   */
  when(done: OnWritten): void {
    const end = (isWritten: boolean): void => {
      if (this.#waiting.delete(end)) done(isWritten)
    }
    const fail = (error: unknown): void => {
      if (!this.#waiting.has(end)) return
      end(false)
      this.#onFailure(error)
    }
    this.#waiting.add(end)
    try {
      this.#journal.commit((failure) => (failure === undefined ? end(true) : fail(failure)))
    } catch (error) {
      fail(error)
    }
  }

  fail(): void {
    for (const end of this.#waiting) end(false)
  }
}
