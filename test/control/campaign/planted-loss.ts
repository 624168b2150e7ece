import type { Mutant } from '../../worlds/mutant.ts'

/** The variable that names the error in the environment of a daemon. */
export const PLANTED = 'INTENTD_TEST_PLANTED'

/** Errors that a kill right after an answer shows. */
export type PlantedLoss = keyof typeof LOSSES

export const LOSSES = {
  haltNotWritten: {
    name: 'halt-not-written',
    what: 'what is restricted is answered, and is not in the journal',
    find: "return emit(core, { kind: 'record', record: entry, durable })",
    replace:
      "return entry.kind === 'restricted' ? undefined : emit(core, { kind: 'record', record: entry, durable })",
  },
  answersForgotten: {
    name: 'answers-forgotten',
    what: 'what was answered is not kept for the next process',
    find: 'this.#store?.save(kept.slice(-REQUESTS_KEPT_MAX))',
    replace: 'void kept',
  },
} as const satisfies Record<string, Mutant>
