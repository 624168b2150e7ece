// Types alone, and imported as such: a thread with a mutant must not load the product's code by the way.

import type { ShrunkWorld } from '../support/world/shrink-world.ts'
import type { WorldPlan } from '../support/world/world-plan.ts'
import type { Mutant } from './mutant.ts'
import type { CampaignSummary, WorldFailure } from './campaign-summary.ts'

/** What the thread is started with. */
export interface WorkerSetup {
  readonly mutant?: Mutant | undefined
}

export type WorkerTask =
  /** Worlds by their seeds, up to the first that fails. */
  | { readonly kind: 'run'; readonly seeds: readonly string[] }
  /** One world by its plan. */
  | { readonly kind: 'replay'; readonly plan: WorldPlan }
  | { readonly kind: 'shrink'; readonly seed: string }

export type WorkerResult =
  | { readonly kind: 'ran'; readonly summary: CampaignSummary }
  | { readonly kind: 'replayed'; readonly failure: WorldFailure | undefined }
  | {
      readonly kind: 'shrunk'
      readonly shrunk: ShrunkWorld | undefined
      readonly timeline: readonly string[]
    }
