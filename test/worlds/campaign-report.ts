import { FAULTS, type FaultKind } from '../support/faults/virtual-faults.ts'
import { type ShrunkWorld } from '../support/world/shrink-world.ts'
import { type CampaignSummary, type WorldFailure } from './campaign-summary.ts'

/** The end of a timeline is what led to the violation. */
const TIMELINE_LINES_MAX = 80

/** How long a campaign took: by the clock, and of all its threads together. */
export interface Elapsed {
  readonly wallMs: number
  readonly cpuMs: number
}

/** What a campaign came to, line by line. */
export function renderSummary(
  summary: CampaignSummary,
  { wallMs, cpuMs }: Elapsed,
): readonly string[] {
  const { worlds, processes, events, orders, fills, failures } = summary
  const rows: readonly (readonly [string, number])[] = [
    ['worlds', worlds],
    ['a minute', Math.round((worlds / wallMs) * 60_000)],
    ['a minute of one core', Math.round((worlds / cpuMs) * 60_000)],
    ['processes', processes],
    ['events', events],
    ['orders', orders],
    ['fills', fills],
  ]
  const faults = (Object.keys(FAULTS) as FaultKind[]).map(
    (fault) => [fault, summary.faults[fault] ?? 0] as const,
  )
  return [
    ...rows.map(([name, count]) => renderRow(name, count)),
    renderRow(
      'faults injected',
      faults.reduce((sum, [, count]) => sum + count, 0),
    ),
    ...faults.map(([fault, count]) => `${renderRow(`  ${fault}`, count)}  ${FAULTS[fault]}`),
    renderRow('violations', failures.length),
  ]
}

function renderRow(name: string, count: number): string {
  return `${name.padEnd(24)}${count.toLocaleString('en').padStart(12)}`
}

/** One line while it runs. */
export function renderProgress({ worlds, failures }: CampaignSummary, { wallMs }: Elapsed): string {
  const aMinute = Math.round((worlds / wallMs) * 60_000)
  return `${worlds.toLocaleString('en')} worlds, ${aMinute.toLocaleString('en')} a minute, ${failures.length} violating`
}

/** Everything that is needed to understand a failure, and to see it again. */
export function renderFailure(
  { seed, violation }: WorldFailure,
  shrunk: ShrunkWorld | undefined,
  timeline: readonly string[],
): readonly string[] {
  const head = [`seed ${seed} violates ${violation.id}: ${violation.detail}`]
  const again = [`again: npm run fuzz -- --seed ${seed} --trace`]
  if (!shrunk) return [...head, 'it does not fail by its script and could not be shrunk', ...again]
  const { plan, runs, isMinimal } = shrunk
  const faults = plan.script ?? []
  const strategies = plan.strategies.map(
    ({ id, kind, size, decisions }) =>
      `  ${id}: ${kind} of ${size}, decisions ${decisions?.join(' ') ?? 'all'}`,
  )
  return [
    ...head,
    '',
    `shrunk in ${runs} runs${isMinimal ? '' : ' (and not further within the limit)'} to ${faults.length} faults:`,
    ...faults.map(({ fault, site, n }) => `  ${fault} @ ${site} #${n}  (${FAULTS[fault]})`),
    ...strategies,
    `  ${plan.positionMode}, ${plan.symbols.join(' ')}, faults for ${plan.faultyMs} ms, then a stop that should ${plan.stop}`,
    `  the exchange: ${JSON.stringify(plan.core)}`,
    `  violates ${shrunk.violation.id}: ${shrunk.violation.detail}`,
    '',
    ...lastLines(timeline),
    '',
    ...again,
    `keep:  npm run fuzz -- --seed ${seed} --worlds 1 --keep   (writes it to test/regress/)`,
  ]
}

function lastLines(timeline: readonly string[]): readonly string[] {
  const head = timeline.slice(0, 2)
  const body = timeline.slice(2)
  if (body.length <= TIMELINE_LINES_MAX) return timeline
  return [
    ...head,
    `   (${body.length - TIMELINE_LINES_MAX} lines earlier)`,
    ...body.slice(-TIMELINE_LINES_MAX),
  ]
}
