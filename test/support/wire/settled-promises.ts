import { Failure, messageOf } from '../../../src/lib/failure.ts'

/**
 * Lets promises come to their end within an instant of virtual time, so that code which awaits runs in a world that does
 * not. `process._tickCallback` runs what waits in the queue of microtasks; inside a microtask it does nothing.
 */
export class SettledPromises {
  readonly #broken: unknown[] = []

  /** @throws Failure where it is called from a microtask, as after an `await`. */
  assertUsable(): void {
    let isSettled = false
    void Promise.resolve().then(() => {
      isSettled = true
    })
    runMicrotasks()
    if (isSettled) return
    throw new Failure({
      code: 'WORLD_IN_A_MICROTASK',
      sentence: 'a world that goes through the client cannot run after an await',
      hint: 'call runWorldLater instead of runWorld',
    })
  }

  /** An error of the program: it is thrown where virtual time goes on. */
  readonly noteBroken = (error: unknown): void => {
    this.#broken.push(error)
  }

  /** @throws what was noted. */
  readonly settle = (): void => {
    runMicrotasks()
    const [error] = this.#broken.splice(0)
    if (error !== undefined) throw error instanceof Error ? error : new Error(messageOf(error))
  }
}

function runMicrotasks(): void {
  ;(process as unknown as { readonly _tickCallback: () => void })._tickCallback()
}
