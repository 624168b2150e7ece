import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { killLeftOver, type IntentdProcess } from '../daemon/intentd-process.ts'
import { Project } from '../daemon/project.ts'
import { findExchange, startDaemon, startExchange } from '../daemon/remote-exchange.ts'
import { fitGrowth, type Measure, renderGrowth } from './soak-report.ts'

const USAGE = `npm run soak:metrics -- --seconds N

A daemon that trades in real time on an exchange in a process of its own, with /metrics read each second.

  --seconds N   how long; 3600 unless told, 60 at least
  --samples K   lines of the table; 20 unless told

It fails (exit code 1) when the fitted line of memory or descriptors rises over the second half of the run by more than
is let through, or a reading of /metrics fails. The heap is what stays after a garbage collection. Descriptors are
counted on Linux alone.
`

interface MetricsSample {
  readonly atMs: number
  readonly heapBytes: number
  readonly rssBytes: number
  readonly descriptors: number
  readonly textBytes: number
}

const MEASURES: readonly Measure<MetricsSample>[] = [
  {
    name: 'heap',
    unit: 'MB',
    read: ({ heapBytes }) => heapBytes / 1e6,
    shareMax: 0.05,
    riseMax: 3,
  },
  {
    name: 'resident memory',
    unit: 'MB',
    read: ({ rssBytes }) => rssBytes / 1e6,
    shareMax: 0.1,
    riseMax: 24,
  },
  {
    name: 'descriptors',
    unit: '',
    read: ({ descriptors }) => descriptors,
    shareMax: 0,
    riseMax: 2,
  },
  {
    name: '/metrics',
    unit: 'bytes',
    read: ({ textBytes }) => textBytes,
    shareMax: 0.1,
    riseMax: 2000,
  },
]

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3600' },
    samples: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) process.stdout.write(USAGE)
else process.exitCode = (await runMetrics(Number(values.seconds), Number(values.samples))) ? 0 : 1

/** Whether nothing grew. */
async function runMetrics(seconds: number, count: number): Promise<boolean> {
  if (!(seconds >= 60 && count >= 4))
    throw new Error(`these options make no sense; the usage is\n\n${USAGE}`)
  const project = new Project()
  try {
    const exchange = await findExchange(project)
    await startExchange(project, exchange).untilEvent('simulator.listening')
    const preload = new URL('./report-heap.ts', import.meta.url).href
    const env = { ...exchange.env, NODE_OPTIONS: `--import ${preload}` }
    const daemon = startDaemon(project, { ...exchange, env })
    await daemon.untilEvent('daemon.running')
    const samples = await takeSamples(daemon, seconds, count)
    const growth = fitGrowth(samples, MEASURES)
    print('')
    for (const measured of growth) print(renderGrowth(measured))
    const isFlat = growth.every((measured) => measured.isFlat)
    const { code } = await daemon.stop()
    print(
      `${daemon.summary.allRuns.fills} fills; exit code ${code}; ${isFlat ? 'passed' : 'FAILED'}`,
    )
    return isFlat && code === 0
  } finally {
    await killLeftOver()
    project.remove()
  }
}

async function takeSamples(
  daemon: IntentdProcess,
  seconds: number,
  count: number,
): Promise<readonly MetricsSample[]> {
  const [listening] = daemon.events('control.listening')
  const token = readFileSync(String(listening?.['token']), 'utf8').trim()
  const samples: MetricsSample[] = []
  const startedAt = performance.now()
  print('      at   heap MB    rss MB  descriptors   /metrics bytes')
  for (let second = 1; second <= seconds; second++) {
    await sleep(Math.max(0, startedAt + second * 1000 - performance.now()))
    const answer = await fetch(`${String(listening?.['url'])}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`/metrics was answered ${answer.status}: ${text}`)
    if (second < ((samples.length + 1) * seconds) / count) continue
    const sample = await takeSample(daemon, { atMs: performance.now() - startedAt, text })
    print(
      `${(sample.atMs / 1000).toFixed(0).padStart(6)} s${(sample.heapBytes / 1e6).toFixed(1).padStart(10)}` +
        `${(sample.rssBytes / 1e6).toFixed(1).padStart(10)}${String(sample.descriptors).padStart(13)}` +
        `${String(sample.textBytes).padStart(17)}`,
    )
    samples.push(sample)
  }
  return samples
}

async function takeSample(
  daemon: IntentdProcess,
  { atMs, text }: { readonly atMs: number; readonly text: string },
): Promise<MetricsSample> {
  const heaps = (): readonly string[] =>
    daemon.stderr.filter((line) => line.startsWith('heapBytes '))
  const before = heaps().length
  daemon.kill('SIGUSR2')
  await daemon.until('what stays on the heap', () => heaps().length > before)
  const [, rss = 'NaN'] = /^process_resident_memory_bytes (\S+)$/m.exec(text) ?? []
  return {
    atMs,
    heapBytes: Number(heaps().at(-1)?.split(' ')[1]),
    rssBytes: Number(rss),
    descriptors: process.platform === 'linux' ? readdirSync(`/proc/${daemon.pid}/fd`).length : 0,
    textBytes: text.length,
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
