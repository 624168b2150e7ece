import { Failure } from '../../src/lib/failure.ts'
import { runWorldLater } from '../support/world/virtual-world.ts'
import { COPIES } from '../support/copies/copies-plan.ts'
import { HAND } from '../support/hand/hand-plan.ts'
import { LIQUIDATIONS, numberOf } from '../support/liquidations/liquidation-plan.ts'
import { tallyWorld } from '../support/liquidations/liquidation-tally.ts'
import { MONEY } from '../support/money/money-plan.ts'
import { MONTHS } from '../support/months/months-plan.ts'
import { STOPS } from '../support/stops/stops-plan.ts'
import { TAKEOVERS } from '../support/takeovers/takeovers-plan.ts'
import { UNIVERSE } from '../support/universe/universe-plan.ts'
import { WIRE } from '../support/wire/wire-plan.ts'
import { planOfSeed } from '../support/world/plan-of-seed.ts'
import { runCampaign, seedAt } from './campaign.ts'
import { keepWorld, type KeptWorld, loadKeptWorlds } from './kept-world.ts'
import { type Mutant, mutate } from './mutant.ts'
import { LEASE_MUTANTS } from './lease-mutants.ts'
import { MUTANTS } from './mutants.ts'
import { type WorldFailure } from './campaign-summary.ts'
import { WorldThread } from './world-thread.ts'

export interface MutantCampaignOptions {
  /** Which mutants; none named: all. */
  readonly names: readonly string[]
  /** How many fresh worlds each may live through. */
  readonly worldsMax: number
  readonly firstSeed: string
  readonly workers: number
  readonly signal?: AbortSignal
  /** Keep, shrunk, the world that caught a mutant for which none is kept. */
  readonly keep: boolean
  readonly say: (line: string) => void
}

/** What became of a mutant. */
export interface MutantFate {
  readonly mutant: Mutant
  /** Fresh worlds that it ran in, the one that caught it included. */
  readonly worlds: number
  /** What caught it, and where; undefined for one that survived. */
  readonly caught:
    | { readonly invariant: string; readonly seed: string; readonly detail: string }
    | undefined
  /** Whether the world that was kept for it still fails with it; undefined where none is kept. */
  readonly kept: boolean | undefined
}

/** Plants each mutant, runs fresh worlds until one notices, and says the fates. True when none survived. */
export async function runMutants(options: MutantCampaignOptions): Promise<boolean> {
  const { say, firstSeed, worldsMax } = options
  const mutants = chooseMutants(options.names)
  // A mutant that does not fit the code any more is found out before an hour is spent.
  for (const mutant of mutants) mutate(mutant)
  say(
    `${mutants.length} mutants, each in fresh worlds from seed ${firstSeed} on, ${worldsMax} at most`,
  )
  say(renderRow(['mutant', 'caught by', 'after worlds', 'kept world', 'the error']))
  const fates = await meetFates(mutants, options)
  const survived = fates.filter(({ caught }) => !caught)
  const stale = fates.filter(({ kept }) => kept === false)
  say(`${fates.length - survived.length} of ${mutants.length} caught`)
  for (const { mutant } of survived) say(`SURVIVED: ${mutant.name}: ${mutant.what}`)
  for (const { mutant } of stale)
    say(`its kept world does not fail with it any more: ${mutant.name}`)
  return survived.length + stale.length === 0 && fates.length === mutants.length
}

function chooseMutants(names: readonly string[]): readonly Mutant[] {
  const all = [...MUTANTS, ...LEASE_MUTANTS]
  const chosen = all.filter(({ name }) => names.length === 0 || names.includes(name))
  const unknown = names.filter((name) => !chosen.some((mutant) => mutant.name === name))
  if (unknown.length === 0) return chosen
  throw new Failure({
    code: 'MUTANT_UNKNOWN',
    sentence: `there is no mutant ${unknown.join(', ')}`,
    hint: `known are ${all.map(({ name }) => name).join(', ')}`,
  })
}

/** Several mutants at once, each on a thread of its own. */
async function meetFates(
  mutants: readonly Mutant[],
  options: MutantCampaignOptions,
): Promise<MutantFate[]> {
  const kept = [...loadKeptWorlds().values()]
  const waiting = [...mutants]
  const fates: MutantFate[] = []
  const work = async (): Promise<void> => {
    for (
      let mutant = waiting.shift();
      mutant && !options.signal?.aborted;
      mutant = waiting.shift()
    ) {
      const fate = await meetFate(
        mutant,
        options,
        kept.find((world) => world.mutant === mutant?.name),
      )
      fates.push(fate)
      options.say(renderFate(fate))
      // A world in which liquidations are looked for is not kept: its seed says all of it.
      const isKept = fate.kept === true || mutant.liquidates === true
      if (options.keep && fate.caught && !isKept) await keepFor(mutant, fate.caught.seed)
    }
  }
  await Promise.all(Array.from({ length: options.workers }, work))
  return fates
}

async function meetFate(
  mutant: Mutant,
  options: MutantCampaignOptions,
  kept: KeptWorld | undefined,
): Promise<MutantFate> {
  const { worlds, failure } = await findFailure(mutant, options)
  return {
    mutant,
    worlds,
    caught: failure && {
      invariant: failure.violation.id,
      seed: failure.seed,
      detail: failure.violation.detail,
    },
    kept: kept && (await failsWith(mutant, kept)),
  }
}

/** The first fresh world that fails with the mutant and holds without it. */
async function findFailure(
  mutant: Mutant,
  { worldsMax, firstSeed: ordinarySeed, signal }: MutantCampaignOptions,
): Promise<{ readonly worlds: number; readonly failure: WorldFailure | undefined }> {
  const kind = kindOf(mutant)
  const firstSeed = `${kind}${ordinarySeed}`
  let worlds = 0
  while (worlds < worldsMax && !signal?.aborted) {
    const summary = await runCampaign({
      worlds: worldsMax - worlds,
      firstSeed: seedAt(firstSeed, worlds),
      workers: 1,
      mutant,
      ...(signal ? { signal } : {}),
    })
    worlds += summary.worlds
    const [failure] = summary.failures
    if (!failure) break
    if (await holdsWithout(failure.seed)) return { worlds, failure }
  }
  return { worlds, failure: undefined }
}

async function holdsWithout(seed: string): Promise<boolean> {
  if (seed.startsWith(LIQUIDATIONS)) return tallyWorld(numberOf(seed)).failures.length === 0
  return (await runWorldLater(planOfSeed(seed))).violations.length === 0
}

function kindOf({
  lastsMonths,
  takesOver,
  isOfMoney,
  isOfCopies,
  isWired,
  liquidates,
  isOfUniverses,
  isOfStops,
  isOfHands,
}: Mutant): string {
  if (liquidates) return LIQUIDATIONS
  if (lastsMonths) return MONTHS
  if (isOfCopies) return COPIES
  if (isOfUniverses) return UNIVERSE
  if (isOfStops) return STOPS
  if (isOfHands) return HAND
  if (isWired) return WIRE
  if (takesOver) return TAKEOVERS
  return isOfMoney ? MONEY : ''
}

/** A kept world holds, and fails with its mutant: it is what shows that the checker still sees. */
async function keepFor(mutant: Mutant, seed: string): Promise<void> {
  const thread = new WorldThread({ mutant })
  try {
    const { shrunk } = await thread.perform<'shrink'>({ kind: 'shrink', seed })
    if (!shrunk) return
    const { plan, violation } = shrunk
    keepWorld(`mutant-${mutant.name}`, {
      what: mutant.what,
      invariant: violation.id,
      mutant: mutant.name,
      plan,
    })
  } finally {
    await thread.stop()
  }
}

/** Whether a kept world fails as it did with its mutant. */
export async function failsWith(mutant: Mutant, { plan, invariant }: KeptWorld): Promise<boolean> {
  const thread = new WorldThread({ mutant })
  try {
    const { failure } = await thread.perform<'replay'>({ kind: 'replay', plan })
    return failure?.violation.id === invariant
  } finally {
    await thread.stop()
  }
}

function renderFate({ mutant, worlds, caught, kept }: MutantFate): string {
  const keptText = kept === undefined ? '' : kept ? 'fails' : 'HOLDS'
  return renderRow([
    mutant.name,
    caught?.invariant ?? 'NOTHING',
    String(worlds),
    keptText,
    mutant.what,
  ])
}

function renderRow([name, caught, worlds, kept, what]: readonly [
  string,
  string,
  string,
  string,
  string,
]): string {
  return `${name.padEnd(36)} ${caught.padEnd(10)} ${worlds.padStart(12)}  ${kept.padEnd(10)}  ${what}`
}
