import { type Mutant } from './mutant.ts'

/** Errors in how a lease is taken, held and asked for. */
export const LEASE_MUTANTS: readonly Mutant[] = [
  {
    name: 'lease-token-not-checked',
    what: 'a write of one that was passed over is taken, until the next one has written',
    find: 'WHERE token = held AND NOT released',
    replace: 'WHERE NOT released',
    takesOver: true,
  },
  {
    name: 'lease-deadline-not-asked',
    what: 'what signs does not ask whether the lease is over',
    find: "if (objected !== undefined) return { kind: 'unwritable', code: 'LEASE_OVER', message: objected }",
    replace: 'void objected',
    takesOver: true,
  },
  {
    name: 'lease-taken-without-wait',
    what: 'a lease is free when it is over, while what was signed under it may still be acted on',
    find: 'ELSE before.expires_at + before.validity END',
    replace: 'ELSE before.expires_at END',
    takesOver: true,
  },
  {
    name: 'lease-asks-the-clock-alone',
    what: 'a clock that was set back makes the lease last longer',
    find: 'monotonic < this.#deadline.monotonic && now < this.#deadline.now',
    replace: 'now < this.#deadline.now',
    takesOver: true,
  },
  {
    name: 'lease-asks-the-monotonic-alone',
    what: 'a machine that slept believes that its lease lasts',
    find: 'monotonic < this.#deadline.monotonic && now < this.#deadline.now',
    replace: 'monotonic < this.#deadline.monotonic',
    takesOver: true,
  },
  {
    name: 'lease-resting-orders-believed',
    what: 'who takes over from another place believes what the book says of resting orders',
    find: 'abandoned := NOT before.released AND before.place <> who_place',
    replace: 'abandoned := NOT before.released AND before.place = who_place',
    takesOver: true,
  },
]
