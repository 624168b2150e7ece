import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRandom } from '../../src/lib/random.ts'
import { IntentdProcess, killLeftOver, type ProcessOptions } from './intentd-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** An unknown order of these tests is cleared up in a second instead of half a minute. */
const QUICK = ['--set', 'execution.acceptanceWindowMs=1000']

/** The shipped configuration and strategies, in a folder of their own that a test may spoil. */
export class Project {
  readonly directory = mkdtempSync(join(tmpdir(), 'intentd-run-'))
  /** What daemons of the user know of each other lies in the project too, and not with whoever runs the tests. */
  readonly #home = { HOME: this.directory, XDG_STATE_HOME: this.directory }

  constructor() {
    for (const folder of ['config', 'strategies'])
      cpSync(join(ROOT, folder), join(this.directory, folder), { recursive: true })
    // Many daemons run at once in tests.
    this.edit('config/paper.yaml', 'port: 8790', 'port: 0')
    // These are copies of those that come with intentd, which run in the thread of the daemon.
    for (const name of ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'])
      this.edit(`config/strategies/${name}.yaml`, '\nmodule:', '\nisolation: inline\nmodule:')
  }

  run(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): IntentdProcess {
    return this.start(['run', ...QUICK, ...args], env)
  }

  /** @param preload Loaded before the program. */
  start(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    preload?: ProcessOptions['preload'],
  ): IntentdProcess {
    return new IntentdProcess(args, {
      cwd: this.directory,
      env: { ...this.#home, ...env },
      preload,
    })
  }

  /** The same from a folder below. */
  startIn(folder: string, args: readonly string[]): IntentdProcess {
    return new IntentdProcess(args, { cwd: join(this.directory, folder), env: this.#home })
  }

  read(path: string): string {
    return readFileSync(join(this.directory, path), 'utf8')
  }

  write(path: string, text: string): void {
    const file = join(this.directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  /** Replaces a part of a file. @throws when the part is not there. */
  edit(path: string, from: string, to: string): void {
    const text = this.read(path)
    if (!text.includes(from)) throw new Error(`not in ${path}: ${from}`)
    this.write(
      path,
      text.replace(from, () => to),
    )
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** The projects of one test file: they and their processes end with it. */
export class Projects {
  readonly #projects: Project[] = []

  open(): Project {
    const project = new Project()
    this.#projects.push(project)
    return project
  }

  /** `before` is called when no process is left and the folders are still there. */
  async close(before?: () => void): Promise<void> {
    await killLeftOver()
    before?.()
    for (const project of this.#projects) project.remove()
  }
}

/** A recording of quotes, one a second, that wanders enough to fill a grid. */
export function writeRecording(project: Project, seconds: number): string {
  const random = createRandom('recording')
  let price = 60_000
  const rows = Array.from({ length: seconds }, (_, second) => {
    price *= 1 + 0.0008 * random.normal()
    const bid = price.toFixed(1)
    const ask = (Number(bid) + 0.1).toFixed(1)
    return `${1_700_000_000_000 + second * 1000},${bid},${ask},3,3,${bid}`
  })
  project.write('BTCUSDT-quotes.csv', ['ts_ms,bid,ask,bidSz,askSz,last', ...rows, ''].join('\n'))
  return 'BTCUSDT-quotes.csv'
}
