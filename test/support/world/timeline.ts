import { type Invariant, type World, type WorldWatcher } from './world.ts'
import { describeEffect, describeEvent, describeOrder, describeReply } from './timeline-text.ts'
import { START_AT, runWorld, type WorldReport } from './virtual-world.ts'
import { type WorldPlan } from './world-plan.ts'

/** Widths of the columns: time, client, exchange. */
const TIME_WIDTH = 8
const SIDE_WIDTH = 54
const WIDTH = TIME_WIDTH + 2 * SIDE_WIDTH + 4

/** Events of a world in virtual seconds, client on the left, exchange on the right. */
class Timeline {
  readonly lines: string[] = [row('time', 'client', 'exchange'), '─'.repeat(WIDTH)]

  /** Follows one world as a watcher. */
  watch = (world: World): WorldWatcher => {
    const at = (): string => ((world.time.now - START_AT) / 1000).toFixed(3)
    const here = (text: string): void => void this.lines.push(row(at(), text, ''))
    const there = (text: string): void => void this.lines.push(row(at(), '', text))
    world.network.onReply = (site, reply) => sayAll(there, describeReply(site, reply))
    world.exchange.truth.onOrder = (order, before) => there(describeOrder(order, before))
    world.faults.onStrike = ({ fault, site, n }) => {
      this.lines.push(`${at().padStart(TIME_WIDTH)}  ✗ ${fault} @ ${site} #${n}`)
    }
    return {
      onBirth: () => here('══ process begins'),
      onRetreat: () => here('══ process retreats'),
      onRetreatCancel: (body) => here(`retreat cancels ${body} ──►`),
      onRetreated: (end) => here(`══ retreat ends: ${end}`),
      onDeath: () => here('══ process dies'),
      onStopped: (clean) => here(`══ process ends${clean ? ', clean' : ', not clean'}`),
      onWrite: (batch) => here(`batch ${batch.batchId} leaves ──►`),
      afterStep: (event, effects) => {
        sayAll(here, describeEvent(event))
        for (const effect of effects) sayAll(here, describeEffect(effect))
      },
      atEnd: () => {
        for (const { id, detail } of world.violations)
          this.lines.push(`${at().padStart(TIME_WIDTH)}  !! ${id}: ${detail}`)
      },
    }
  }
}

function row(at: string, client: string, exchange: string): string {
  return `${at.padStart(TIME_WIDTH)}  ${fit(client)}│ ${fit(exchange)}`.trimEnd()
}

function fit(text: string): string {
  return text.length > SIDE_WIDTH ? `${text.slice(0, SIDE_WIDTH - 1)}…` : text.padEnd(SIDE_WIDTH)
}

function sayAll(say: (text: string) => void, lines: readonly string[]): void {
  for (const line of lines) say(line)
}

/** Runs a world again for its timeline, optionally with extra checkers. */
export function drawTimeline(
  plan: WorldPlan,
  extra: readonly Invariant['watch'][] = [],
): { readonly lines: readonly string[]; readonly report: WorldReport } {
  const timeline = new Timeline()
  const report = runWorld(plan, [timeline.watch, ...extra])
  return { lines: timeline.lines, report }
}
