import { type Mutant } from './mutant.ts'

/** Errors in how a lease is taken, held and asked for, each of which the worlds of the lease must notice. */
export const LEASE_MUTANTS: readonly Mutant[] = [
  {
    name: 'lease-token-not-checked',
    what: 'a write of one that was passed over is taken, until the next one has written',
    find: 'WHERE token = held AND NOT released',
    replace: 'WHERE NOT released',
  },
  {
    name: 'lease-deadline-not-asked',
    what: 'what signs does not ask whether the lease is over',
    find: "if (objected !== undefined) return { kind: 'unwritable', code: 'LEASE_OVER', message: objected }",
    replace: 'void objected',
  },
  {
    name: 'lease-taken-without-wait',
    what: 'a lease is free when it is over, while what was signed under it may still be acted on',
    find: 'ELSE before.expires_at + before.validity END',
    replace: 'ELSE before.expires_at END',
  },
  {
    name: 'lease-asks-the-clock-alone',
    what: 'a clock that was set back makes the lease last longer',
    find: 'monotonic < this.#deadline.monotonic && now < this.#deadline.now',
    replace: 'now < this.#deadline.now',
  },
  {
    name: 'lease-asks-the-monotonic-alone',
    what: 'a machine that slept believes that its lease lasts',
    find: 'monotonic < this.#deadline.monotonic && now < this.#deadline.now',
    replace: 'monotonic < this.#deadline.monotonic',
  },
]
