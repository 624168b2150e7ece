import { Failure, messageOf } from '../../../src/lib/failure.ts'

/**
 * Completes promises within an instant of virtual time, so that awaiting code runs in a world that
 * does not await. `process._tickCallback` runs queued microtasks; inside a microtask it does
 * nothing.
 */
export class SettledPromises {
  readonly #broken: unknown[] = []

  /** @throws Failure if called from a microtask, as after an `await` */
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

  /** Rethrows an error of the program where virtual time goes on. */
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
